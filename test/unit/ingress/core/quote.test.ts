import { expect, test } from "bun:test";
import * as quote from "../../../../src/ingress/core/quote.ts";

const { UnsafeText } = quote;

test("a word is put in strong quotes, and a quote ends and begins them", () => {
  expect(quote.word(`a "b" \\ $c #d`, "x")).toBe(`'a "b" \\ $c #d'`);
  expect(quote.word("it's", "x")).toBe(`'it'\\''s'`);
  expect(quote.word("", "x")).toBe("''");
});

test("a format has no expressions", () => expect(quote.formatWord("100% %[src]", "x")).toBe("'100%% %%[src]'"));
test("an empty format is an expression without text", () => expect(quote.formatWord("", "x")).toBe("%[str()]"));

test("signs that end a line are refused everywhere", () => {
  const writers = [quote.word, quote.formatWord, quote.plainName, quote.headerName, quote.hostName, quote.pathPrefix];
  const others = [quote.network, quote.listenAddress, quote.mapKey, quote.mapValue, quote.socketWord, quote.luaString];
  for (const write of [...writers, ...others])
    for (const sign of ["\n", "\r", "\0", "\u007f", "\u001b"])
      for (const text of [`a${sign}`, `${sign}a`, `a${sign}b`]) expect(() => write(text, "x")).toThrow(UnsafeText);
});

const networks: [string, boolean][] = [
  ["10.0.0.0/8", true],
  ["1.2.3.4", true],
  ["::1/128", true],
  ["2001:db8::/32", true],
  ["::ffff:1.2.3.4", true],
  ["1:2:3:4:5:6:7:8", true],
  ["1.2.3", false],
  ["1.2.3.4.5", false],
  ["256.1.1.1", false],
  ["1:2:3:4:5:6:7", false],
  ["1::2::3", false],
  ["10.0.0.0/8/8", false],
  ["10.0.0.0/a", false],
  ["-f /etc/passwd", false],
  ["", false],
];
for (const [text, ok] of networks)
  test(`network "${text}" is ${ok ? "written" : "refused"}`, () => {
    if (ok) expect(quote.network(text, "x")).toBe(text);
    else expect(() => quote.network(text, "x")).toThrow(UnsafeText);
  });

test("addresses to listen on have one spelling", () => {
  expect(quote.listenAddress(":80", "x")).toBe("0.0.0.0:80");
  expect(quote.listenAddress("[::]:443", "x")).toBe("[::]:443");
  expect(quote.listenAddress("127.0.0.1:8080", "x")).toBe("127.0.0.1:8080");
  for (const text of ["80", ":70000", "unix@/x:80", "a b:80", "[::1:80"])
    expect(() => quote.listenAddress(text, "x")).toThrow(UnsafeText);
});

test("an endpoint is an address, never a name", () => {
  expect(quote.endpoint("10.0.0.7", 80, "x")).toBe("10.0.0.7:80");
  expect(quote.endpoint("fe80::1", 80, "x")).toBe("[fe80::1]:80");
  for (const text of ["localhost", "10.0.0.7:1", "/run/x", ""])
    expect(() => quote.endpoint(text, 80, "x")).toThrow(UnsafeText);
  expect(() => quote.endpoint("10.0.0.7", 65_536, "x")).toThrow(UnsafeText);
});

test("a word of the socket escapes what separates words and commands", () =>
  expect(quote.socketWord("max-age=1; a\\b", "x")).toBe("max-age=1\\;\\ a\\\\b"));

test("a key of a map is no comment", () => expect(() => quote.mapKey("#a", "x")).toThrow(UnsafeText));

test("the error names what cannot be written, shortened", () =>
  expect(() => quote.hostName("a b".repeat(100), "host")).toThrow(/^host: ".{81}" cannot be written$/));
