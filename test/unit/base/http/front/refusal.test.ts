import { expect, test } from "bun:test";
import { refusalBytes } from "../../../../../src/base/http/front/refusal.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("is a whole answer in the envelope that closes the connection", () => {
  expect(text(refusalBytes({ status: 413, message: 'too "large"', headers: { "Retry-After": "1" } }))).toBe(
    "HTTP/1.1 413 Content Too Large\r\nContent-Type: application/json\r\nContent-Length: 62\r\nConnection: close\r\n" +
      'Retry-After: 1\r\n\r\n{"status":"error","error":"too \\"large\\"","code":"too_large"}\n',
  );
});

test("has no body for HEAD, and the length counts bytes", () => {
  const answer = text(refusalBytes({ status: 400, message: "é" }, "HEAD"));
  expect(answer).toEndWith("\r\n\r\n");
  expect(answer).toContain(
    `Content-Length: ${Buffer.byteLength('{"status":"error","error":"é","code":"invalid"}\n')}\r\n`,
  );
});
