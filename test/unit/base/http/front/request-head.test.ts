import { describe, expect, test } from "bun:test";
import { createHeadReader, headerOf, type RequestHead } from "../../../../../src/base/http/front/request-head.ts";
import type { Refusal } from "../../../../../src/base/http/front/refusal.ts";

const limits = { headBytesMax: 512, headersMax: 8 };

function read(text: string): RequestHead | Refusal {
  const step = createHeadReader(limits).push(Buffer.from(text, "latin1"));
  if (step.kind === "more") throw new Error("the head is not complete");
  return step.kind === "head" ? step.head : step.refusal;
}

describe("a good head", () => {
  test("is taken apart, and what follows it is left over", () => {
    const bytes =
      "POST /config?scope=a&x=%20 HTTP/1.1\r\nHost: localhost:8686\r\nX-Tag:\t a b \t\r\nContent-Length: 3\r\n\r\nabcGET";
    const step = createHeadReader(limits).push(Buffer.from(bytes));
    if (step.kind !== "head") throw new Error(step.kind);
    expect(step.head).toEqual({
      method: "POST",
      target: "/config?scope=a&x=%20",
      path: "/config",
      version: "1.1",
      headers: [
        ["host", "localhost:8686"],
        ["x-tag", "a b"],
        ["content-length", "3"],
      ],
      host: "localhost:8686",
      framing: { kind: "length", bytes: 3 },
      keepAlive: true,
      expectsContinue: false,
    });
    expect(Buffer.from(step.rest).toString()).toBe("abcGET");
    expect(headerOf(step.head, "x-tag")).toBe("a b");
  });

  test.each([
    ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", { keepAlive: true, framing: { kind: "none" } }],
    ["GET / HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\n\r\n", { keepAlive: false }],
    ["GET / HTTP/1.0\r\n\r\n", { keepAlive: false, host: undefined }],
    ["POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n", { framing: { kind: "chunked" } }],
    ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", { framing: { kind: "length", bytes: 0 } }],
    ["POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n", { expectsContinue: true }],
    ["\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", { method: "GET" }],
    [
      "GET / HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX-High: \xe9\r\n\r\n",
      {
        headers: [
          ["host", "a"],
          ["x-empty", ""],
          ["x-high", "\xe9"],
        ],
      },
    ],
  ])("%j", (text, expected) => {
    expect(read(text)).toMatchObject(expected as Record<string, unknown>);
  });

  test("of exactly the greatest size passes, one byte more is 431", () => {
    const padded = (size: number) => {
      const start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
      return `${start}${"x".repeat(size - start.length - 4)}\r\n\r\n`;
    };
    expect(read(padded(512))).toMatchObject({ method: "GET" });
    expect(read(padded(513))).toMatchObject({ status: 431 });
  });
});

describe("refused", () => {
  test.each([
    ["GET /\r\n\r\n", 400, "request line"],
    ["GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "request line"],
    ["G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "request line"],
    ["GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "percent-encoded"],
    ["GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "must be a path"],
    ["OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "must be a path"],
    ["GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "HTTP/2.0"],
    ["GET / HTTP/1.1\r\n\r\n", 400, "Host header is missing"],
    ["GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "more than one Host"],
    ["GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, "Name: value"],
    ["GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n", 400, '"nonsense"'],
    ["GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400, "folded"],
    ["GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400, "control character"],
    ["GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400, "control character"],
    ["GET / HTTP/1.1\r\nHost: a\r\nX: a\nY: b\r\n\r\n", 400, "control character"],
    ["GET / HTTP/1.1\nHost: a\n\n", 400, "CR LF"],
    ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "both"],
    [
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400,
      "more than one Content-Length",
    ],
    ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400, "not a number"],
    ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400, "not a number"],
    ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "not a number"],
    ["POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400, "not a number"],
    ["POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "gzip"],
    ["POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 501, "chunked"],
    [
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n",
      501,
      "identity",
    ],
    ["POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "HTTP/1.0"],
    [`GET / HTTP/1.1\r\nHost: a\r\n${"X: 1\r\n".repeat(8)}\r\n`, 431, "more than 8"],
    [`GET /${"x".repeat(600)}`, 431, "larger than 512"],
  ])("%j", (text, status, words) => {
    const refusal = read(text);
    expect(refusal).toMatchObject({ status });
    expect("message" in refusal && refusal.message).toContain(words);
  });
});
