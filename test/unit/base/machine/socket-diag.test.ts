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
