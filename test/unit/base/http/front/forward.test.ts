import { expect, test } from "bun:test";
import { forwardedRequest } from "../../../../../src/base/http/front/forward.ts";
import { createHeadReader } from "../../../../../src/base/http/front/request-head.ts";

function forwarded(text: string, body: string[] = []): string {
  const step = createHeadReader({ headBytesMax: 4096, headersMax: 20 }).push(Buffer.from(text, "latin1"));
  if (step.kind !== "head") throw new Error(JSON.stringify(step));
  const parts = body.map((part) => Buffer.from(part));
  return Buffer.from(forwardedRequest(step.head, parts)).toString("latin1");
}

test("keeps method, target and end-to-end headers, and drops what is for this hop", () => {
  const hop = "Connection: close\r\nKeep-Alive: 1\r\nTE: x\r\nUpgrade: h2c\r\nExpect: 100-continue\r\nTrailer: y\r\n";
  const head = `POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:1\r\nX-A: \xe9\r\n${hop}Transfer-Encoding: chunked\r\n\r\n`;
  expect(forwarded(head, ["ab", "c"])).toBe(
    "POST /a?b=c HTTP/1.1\r\nHost: localhost\r\nx-a: \xe9\r\nContent-Length: 3\r\n\r\nabc",
  );
});

test("says length 0 only where the client announced a body", () => {
  expect(forwarded("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")).toContain("Content-Length: 0\r\n");
  expect(forwarded("GET / HTTP/1.0\r\n\r\n")).toBe("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
});
