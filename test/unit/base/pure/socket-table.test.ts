import { expect, test } from "bun:test";
import { clientRowTexts, findRow } from "../../../../src/base/pure/socket-table.ts";

const header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const row = (ends: string, uid: number, inode: number) =>
  `   0: ${ends}01 00000000:00000000 00:00000000 00000000 ${uid}        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`;

test("an IPv4 client stands in tcp, and in tcp6 where its socket is an IPv6 one", () => {
  const ends = { localAddress: "127.0.0.1", localPort: 8686, remoteAddress: "127.0.0.1", remotePort: 54_321 };
  const texts = clientRowTexts(ends);
  expect(texts).toEqual({
    tcp: "0100007F:D431 0100007F:21EE ",
    tcp6: "0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:21EE ",
  });
  const mapped = { ...ends, localAddress: "::ffff:127.0.0.1", remoteAddress: "::ffff:127.0.0.1" };
  expect(clientRowTexts(mapped)).toEqual(texts);
});

test.each([
  ["::1", "00000000000000000000000001000000"],
  ["fe80::1234:5678%eth0", "000080FE000000000000000078563412"],
  ["2001:db8:1:2:3:4:5:6", "B80D0120020001000400030006000500"],
])("an IPv6 client %s stands in tcp6 alone", (address, hex) => {
  const ends = { localAddress: address, localPort: 1, remoteAddress: address, remotePort: 65_535 };
  expect(clientRowTexts(ends)).toEqual({ tcp: undefined, tcp6: `${hex}:FFFF ${hex}:0001 ` });
});

test("the client's own row is found, never that of the server's end", () => {
  const client = "0100007F:D431 0100007F:21EE ";
  const server = "0100007F:21EE 0100007F:D431 ";
  const table = header + row(server, 0, 11) + row(client, 1000, 12);
  expect(findRow(table, client)).toEqual({ uid: 1000, inode: 12 });
  expect(findRow(header + row(server, 0, 11), client)).toBeUndefined();
  expect(findRow("", client)).toBeUndefined();
});

test("a socket that no process holds is told by inode 0, whatever its user", () => {
  const client = "0100007F:D431 0100007F:21EE ";
  expect(findRow(header + row(client, 0, 0), client)).toEqual({ uid: 0, inode: 0 });
});
