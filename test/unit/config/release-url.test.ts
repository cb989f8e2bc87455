import { expect, test } from "bun:test";
import { releaseUrlOf } from "../../../src/config/release-url.ts";

test("the flag wins over the environment, and a slash at the end does not count", () => {
  const env = { BERTH_RELEASE_URL: "https://downloads.example.com/berth//" };
  expect(releaseUrlOf(undefined, env)).toBe("https://downloads.example.com/berth");
  expect(releaseUrlOf("http://127.0.0.1:8000", env)).toBe("http://127.0.0.1:8000");
});

test("without one, or with something else, the text says what to give", () => {
  expect(() => releaseUrlOf(undefined, {})).toThrow("set BERTH_RELEASE_URL");
  expect(() => releaseUrlOf("ftp://example.com", {})).toThrow('"ftp://example.com" is not an http or https address');
});
