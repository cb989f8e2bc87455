import { expect, test } from "bun:test";
import { releaseUrlOf } from "../../../src/config/release-url.ts";

test("the flag wins over the environment, and a slash at the end does not count", () => {
  const env = { BERTH_RELEASE_URL: "https://downloads.example.com/berth//" };
  expect(releaseUrlOf(undefined, env)).toBe("https://downloads.example.com/berth");
  expect(releaseUrlOf("http://127.0.0.1:8000", env)).toBe("http://127.0.0.1:8000");
});

test("without one, or with something else, the text says what to give", () => {
  expect(() => releaseUrlOf(undefined, {})).toThrow("set BERTH_RELEASE_URL");
  expect(() => releaseUrlOf("ftp://example.com", {})).toThrow('"ftp://example.com" is not an https address');
});

test.each(["http://localhost/r", "http://[::1]:8000", "http://127.0.0.1"])("%s is this machine", (url) =>
  expect(releaseUrlOf(url, {})).toBe(url),
);

test.each([
  "http://mirror.example.com",
  "http://127.0.0.1.example.com",
  "http://localhost@example.com",
  "http://10.0.0.1/",
  "http://127.0.0.1:1@example.com/",
  "http://127.0.0.1:1@127.0.0.1/",
  "https://berth.example.com@example.com/",
  "https://user:word@example.com/",
  "http://127.0.0.1\\@example.com/",
  "http://127.0.0.1#@example.com/",
  "http://127.0.0.1?@example.com/",
  "https://",
])("%s is refused: what it sends could be replaced on its way", (url) =>
  expect(() => releaseUrlOf(url, {})).toThrow("is not an https address"),
);
