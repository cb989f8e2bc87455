import { describe, expect, test } from "bun:test";
import { type BodyFraming, createBodyBoundary } from "../../../../../src/base/http/front/body-boundary.ts";

function take(framing: BodyFraming, text: string) {
  const boundary = createBodyBoundary(framing);
  let payload = "";
  const step = boundary.take(Buffer.from(text), (part) => {
    payload += Buffer.from(part).toString();
  });
  return { ...step, payload, counted: boundary.payloadBytes };
}

describe("by length", () => {
  test("takes that many bytes and leaves the next request alone", () => {
    expect(take({ kind: "length", bytes: 3 }, "abcGET")).toEqual({ used: 3, done: true, payload: "abc", counted: 3 });
    expect(take({ kind: "length", bytes: 4 }, "abc")).toEqual({ used: 3, done: false, payload: "abc", counted: 3 });
  });
  test("no body takes nothing, until-close takes everything", () => {
    expect(take({ kind: "none" }, "GET")).toEqual({ used: 0, done: true, payload: "", counted: 0 });
    expect(take({ kind: "close" }, "abc")).toEqual({ used: 3, done: false, payload: "abc", counted: 3 });
  });
});

describe("chunked", () => {
  const chunked: BodyFraming = { kind: "chunked" };
  test.each([
    ["0\r\n\r\nGET", 5, ""],
    ["3\r\nabc\r\n0\r\n\r\nGET", 13, "abc"],
    ["3;name=value\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", 39, "abc0123456789"],
    ["1 \r\na\r\n00\r\nTrailer: x\r\nOther: y\r\n\r\nGET", 35, "a"],
    ["4\r\n\r\n\r\n\r\n0\r\n\r\n", 14, "\r\n\r\n"],
  ])("%j ends after %d bytes", (text, used, payload) => {
    expect(take(chunked, text)).toEqual({ used, done: true, payload, counted: payload.length });
  });

  test("an unfinished body is not done", () => {
    expect(take(chunked, "3\r\nabc\r\n0\r\n")).toMatchObject({ done: false, used: 11 });
  });

  test.each([
    ["x\r\n", "hexadecimal"],
    ["\r\n", "hexadecimal"],
    ["-1\r\n", "hexadecimal"],
    ["0x1\r\na", "hexadecimal"],
    ["1234567890abc\r\n", "hexadecimal"],
    ["1;a\u0001\r\n", "hexadecimal"],
    ["1\na\n", "CR LF"],
    ["1\r\nab\r\n", "longer than its size"],
    [`1;${"x".repeat(2_000)}`, "too long"],
    [`0\r\n${"Trailer: value\r\n".repeat(600)}\r\n`, "too long"],
  ])("%j is refused", (text, words) => {
    const step = take(chunked, text);
    expect(step.done).toBe(false);
    expect(step.fault).toContain(words);
  });
});
