import { expect, test } from "bun:test";
import { createResponseReader } from "../../../../../src/base/http/front/response-reader.ts";

function take(text: string, request = { method: "GET", closing: false }) {
  const reader = createResponseReader(request);
  const { pass, ...step } = reader.take(Buffer.from(text));
  return { ...step, passed: Buffer.concat(pass).toString(), endsHere: reader.endsHere() };
}

test.each([
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", true],
  ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", false],
  ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", true],
  ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", false],
  ["HTTP/1.1 204 No Content\r\n\r\n", true],
  ["HTTP/1.1 304 Not Modified\r\n\r\n", true],
])("%j passes unchanged, done: %p", (text, done) => {
  expect(take(text)).toEqual({ passed: text, done, endsHere: false });
});

test("a body without length goes on until the connection ends", () => {
  const text = "HTTP/1.1 200 OK\r\n\r\nab";
  expect(take(text)).toEqual({ passed: text, done: false, endsHere: true });
});

test("the answer to HEAD has no body whatever its length says", () => {
  const text = "HTTP/1.1 200 OK\r\ncontent-length: 42\r\n\r\n";
  expect(take(text, { method: "HEAD", closing: false })).toMatchObject({ passed: text, done: true });
});

test("a closing connection says so in the head", () => {
  expect(take("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", { method: "GET", closing: true }).passed).toBe(
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab",
  );
});

test("a refusal of the inner parser is told apart from an answer of the app", () => {
  expect(take("HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n")).toMatchObject({
    refusedStatus: 431,
    passed: "",
  });
  expect(take("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}")).toMatchObject({ done: true });
});

test("bytes after the end, and what is no response, are faults", () => {
  expect(take("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab").fault).toContain("after the end");
  expect(take("SSH-2.0\r\n\r\n").fault).toContain("not a response head");
  expect(take("x".repeat(70_000)).fault).toContain("too large");
});

test("a head cut anywhere is put together again", () => {
  const text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
  for (let cut = 1; cut < text.length; cut += 1) {
    const reader = createResponseReader({ method: "GET", closing: false });
    const first = reader.take(Buffer.from(text.slice(0, cut)));
    const second = reader.take(Buffer.from(text.slice(cut)));
    expect(first.done).toBe(false);
    expect(second.done).toBe(true);
    expect(Buffer.concat([...first.pass, ...second.pass]).toString()).toBe(text);
  }
});
