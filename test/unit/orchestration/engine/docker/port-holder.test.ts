import { expect, test } from "bun:test";
import type { DockerClient } from "../../../../../src/orchestration/engine/docker/client.ts";
import { portHolders, processHolding } from "../../../../../src/orchestration/engine/docker/port-holder.ts";
import { listenOnSix } from "../../../../support/listen-six.ts";
import { freePort } from "../../../../support/ports.ts";

test("names the process that listens on a port", async () => {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const holder = await processHolding(server.port);
  server.stop(true);
  expect(holder).toMatch(new RegExp(`^process ${process.pid} \\(.+\\)$`));
});

test("names nobody for a port that is free", async () => {
  expect(await processHolding(await freePort())).toBeUndefined();
});

test("names the process that listens with UDP, on an address that overlaps, and nobody else", async () => {
  const socket = await Bun.udpSocket({ hostname: "127.0.0.1", port: 0 });
  const engine = { local: true, call: async () => [] } as unknown as DockerClient;
  const binding = (hostIp: string, protocol: "tcp" | "udp") =>
    portHolders(engine, [{ hostIp, hostPort: socket.port, containerPort: 80, protocol }]);
  try {
    const [found] = await binding("0.0.0.0", "udp");
    expect(found).toMatchObject({ holder: expect.stringContaining(`process ${process.pid} (`), container: undefined });
    expect([await binding("127.0.0.2", "udp"), await binding("127.0.0.1", "tcp")]).toEqual([[], []]);
  } finally {
    socket.close();
  }
});

test("a listener for IPv6 alone holds no port of IPv4", async () => {
  const engine = { local: true, call: async () => [] } as unknown as DockerClient;
  for (const ipv6Only of [true, false]) {
    using six = await listenOnSix(ipv6Only);
    const held = async (hostIp: string) =>
      (await portHolders(engine, [{ hostIp, hostPort: six.port, containerPort: 80, protocol: "tcp" }])).length;
    expect([await held("127.0.0.1"), await held("0.0.0.0"), await held("::")]).toEqual(
      ipv6Only ? [0, 0, 1] : [1, 1, 1],
    );
  }
});
