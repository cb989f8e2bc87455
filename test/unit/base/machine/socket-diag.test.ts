import { dlopen, ptr } from "bun:ffi";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, readlinkSync, readdirSync } from "node:fs";
import { createAskKernel } from "../../../../src/base/machine/socket-diag.ts";
import { clientRowTexts, findRow, type SocketEnds } from "../../../../src/base/pure/socket-table.ts";
import { waitFor } from "../../../support/wait.ts";

const accepted: SocketEnds[] = [];
let server: Bun.TCPSocketListener<undefined>;
beforeAll(() => {
  server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: ({ localAddress, localPort, remoteAddress, remotePort }) =>
        void accepted.push({ localAddress, localPort, remoteAddress, remotePort }),
      data() {},
    },
  });
});
afterAll(() => server.stop(true));

async function connected(hostname: string): Promise<{ ends: SocketEnds; close: () => void }> {
  const socket = await Bun.connect({ hostname, port: server.port, socket: { data() {} } });
  const mine = () => accepted.find(({ remotePort }) => remotePort === socket.localPort);
  await waitFor("the connection to be accepted", async () => mine() !== undefined);
  return { ends: mine() as SocketEnds, close: () => socket.terminate() };
}

test.each(["127.0.0.1", "::ffff:127.0.0.1"])(
  "the kernel tells of a client's socket to %s what its tables tell",
  async (hostname) => {
    const { ends, close } = await connected(hostname);
    const texts = clientRowTexts(ends);
    const row =
      findRow(readFileSync("/proc/net/tcp", "latin1"), texts.tcp ?? "") ??
      findRow(readFileSync("/proc/net/tcp6", "latin1"), texts.tcp6);
    expect(row?.inode).toBeGreaterThan(0);
    const asked = await createAskKernel()(ends);
    expect(asked).toEqual(row);
    const held = readdirSync("/proc/self/fd").map((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`);
      } catch {
        return "";
      }
    });
    expect(held).toContain(`socket:[${asked?.inode}]`);
    close();
  },
);

test("a client that is gone is not mistaken for a socket that listens on its port", async () => {
  const ask = createAskKernel();
  const { ends, close } = await connected("127.0.0.1");
  close();
  await waitFor("the client to be gone", async () => ((await ask(ends))?.inode ?? 0) === 0);
  const other = Bun.listen({ hostname: "127.0.0.1", port: ends.remotePort, socket: { data() {} } });
  expect((await ask(ends))?.inode ?? 0).toBe(0);
  other.stop(true);
});

/** Root of a container with the network of the host and CAP_NET_ADMIN can send to a netlink socket of another process. */
test("an answer that another process sends is not believed", async () => {
  const ask = createAskKernel();
  const { ends, close } = await connected("127.0.0.1");
  const own = await ask(ends);
  expect(own?.inode).toBeGreaterThan(0);
  const libc = dlopen("libc.so.6", {
    socket: { args: ["int", "int", "int"], returns: "int" },
    sendto: { args: ["int", "ptr", "u64", "int", "ptr", "int"], returns: "i64" },
    close: { args: ["int"], returns: "int" },
  });
  const socket = libc.symbols.socket(16, 3, 4);
  let sent = 0;
  for (const port of diagPorts()) {
    const to = new DataView(new ArrayBuffer(12));
    to.setUint16(0, 16, true);
    to.setUint32(4, port, true);
    for (let sequence = 2; sequence < 6; sequence++) {
      const forged = new DataView(new ArrayBuffer(88));
      forged.setUint32(0, 88, true);
      forged.setUint16(4, 20, true);
      forged.setUint32(8, sequence, true);
      forged.setUint16(20, ends.remotePort);
      forged.setUint16(22, ends.localPort);
      forged.setUint32(84, 1, true);
      if (Number(libc.symbols.sendto(socket, ptr(forged.buffer), 88, 0x40, ptr(to.buffer), 12)) === 88) sent++;
    }
  }
  libc.symbols.close(socket);
  // Without the right to send, which root has, there is nothing to forge.
  if (process.getuid?.() === 0) expect(sent).toBeGreaterThan(0);
  for (let round = 0; round < 4; round++) expect(await ask(ends)).toEqual(own);
  close();
});

/** Of the sockets that ask about sockets (protocol 4). */
function diagPorts(): number[] {
  return readFileSync("/proc/net/netlink", "latin1")
    .split("\n")
    .flatMap((line) => {
      const [, protocol, port] = line.trim().split(/\s+/);
      return protocol === "4" && port !== "0" ? [Number(port)] : [];
    });
}
