import { expect, test } from "bun:test";
import { answerHead } from "../../../../../src/base/http/front/answer-head.ts";

const at = Date.UTC(2026, 0, 2, 3, 4, 5);

test("the status line, then headers, date and length, then an empty line", () => {
  const response = new Response("x", { status: 404, headers: { "Content-Type": "text/plain", "X-A": "1" } });
  const text = answerHead(response, { framing: { kind: "length", bytes: 3 }, closing: false, now: at });
  const [status, ...lines] = text.split("\r\n");
  expect(status).toBe("HTTP/1.1 404 Not Found");
  expect(lines.slice(0, -2).sort()).toEqual([
    "Content-Length: 3",
    "Date: Fri, 02 Jan 2026 03:04:05 GMT",
    "content-type: text/plain",
    "x-a: 1",
  ]);
  expect(lines.slice(-2)).toEqual(["", ""]);
});

test("framing headers of the app are replaced by the front's own", () => {
  const response = new Response(null, {
    headers: { "Content-Length": "99", "Transfer-Encoding": "chunked", Connection: "upgrade" },
  });
  const text = answerHead(response, { framing: { kind: "chunked" }, closing: true, now: at }).toLowerCase();
  expect(text).not.toContain("99");
  expect(text).not.toContain("upgrade");
  expect(text).toContain("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
});

test("each cookie keeps a line of its own", () => {
  const headers = new Headers();
  headers.append("Set-Cookie", "a=1");
  headers.append("Set-Cookie", "b=2");
  const text = answerHead(new Response(null, { headers }), { framing: { kind: "none" }, closing: false, now: at });
  expect(text).toContain("set-cookie: a=1\r\nset-cookie: b=2\r\n");
});
