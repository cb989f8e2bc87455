import { expect, test } from "bun:test";
import { diagRequest, diagRow } from "../../../../src/base/pure/socket-diag.ts";
import type { SocketEnds } from "../../../../src/base/pure/socket-table.ts";

const ends: SocketEnds = { localAddress: "127.0.0.1", localPort: 8686, remoteAddress: "127.0.0.1", remotePort: 40_000 };

/** As a kernel answered it. */
function answer({ type = 20, sequence = 7, client = 40_000, server = 8686, uid = 1_000, inode = 123_456 } = {}) {
  const bytes = new Uint8Array(124);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 124, true);
  view.setUint16(4, type, true);
  view.setUint32(8, sequence, true);
  view.setUint16(20, client);
  view.setUint16(22, server);
  view.setUint32(80, uid, true);
  view.setUint32(84, inode, true);
  return bytes;
}

test("a request names the client's end first", () => {
  const view = new DataView(diagRequest(ends, 7).buffer);
  expect([view.getUint32(0, true), view.getUint16(4, true), view.getUint32(8, true)]).toEqual([72, 20, 7]);
  expect([view.getUint8(16), view.getUint8(17)]).toEqual([2, 6]);
  expect([view.getUint16(24), view.getUint16(26)]).toEqual([40_000, 8686]);
  expect([view.getUint32(28), view.getUint32(44)]).toEqual([0x7f_00_00_01, 0x7f_00_00_01]);
});

test("a request for IPv6 has both addresses whole", () => {
  const request = diagRequest({ ...ends, localAddress: "::1", remoteAddress: "::1" }, 1);
  expect(request[16]).toBe(10);
  expect([request[43], request[59]]).toEqual([1, 1]);
});

test("an answer is the row of the socket that was asked for, and of no other", () => {
  expect(diagRow(answer(), ends, 7)).toEqual({ uid: 1_000, inode: 123_456 });
  const others = [{ type: 2 }, { sequence: 6 }, { client: 40_001 }, { server: 0 }];
  for (const other of others) expect(diagRow(answer(other), ends, 7)).toBeUndefined();
  expect(diagRow(answer().subarray(0, 36), ends, 7)).toBeUndefined();
});
