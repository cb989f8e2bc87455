import { expect, test } from "bun:test";
import { parseAccessLine } from "../../../../src/ingress/core/access-line.ts";

test("a line is read field by field", () =>
  expect(
    parseAccessLine("p2 s2 200 437 70 0 1 19 20 12 +1 -- 1795408505777 5dad-id 127.0.0.1 GET a.test /x\n"),
  ).toEqual({
    backend: "p2",
    server: "s2",
    status: 200,
    bytesOut: 437,
    bytesIn: 70,
    queueMs: 0,
    connectMs: 1,
    responseMs: 19,
    totalMs: 20,
    heldMs: 12,
    retries: 1,
    ended: "--",
    at: 1795408505777,
    requestId: "5dad-id",
    client: "127.0.0.1",
    method: "GET",
    host: "a.test",
    path: "/x",
  }));

test("what did not happen is undefined", () => {
  const line = parseAccessLine("- <NOSRV> -1 0 0 -1 -1 -1 3 - 0 PR 1 id ::1 GET - /");
  expect(line).toMatchObject({ heldMs: 0, totalMs: 3 });
  const { backend, server, status, queueMs, connectMs, responseMs, host } = line ?? {};
  expect([backend, server, status, queueMs, connectMs, responseMs, host]).toEqual(Array(7).fill(undefined));
});

test("a line that was cut off is none", () => expect(parseAccessLine("p2 s2 200 437")).toBeUndefined());
