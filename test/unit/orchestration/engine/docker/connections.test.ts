import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnections, servedBy, tcpRows } from "../../../../../src/orchestration/engine/docker/connections.ts";
import type { DockerClient } from "../../../../../src/orchestration/engine/docker/client.ts";
import type { InspectedPod } from "../../../../../src/orchestration/engine/pod.ts";
import { waitFor } from "../../../../support/wait.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const row = (local: string, state: string) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0\n`;
const anyone = (port: string) => `00000000:${port}`;
const six = (port: string) => `00000000000000000000000000000000:${port}`;

describe("the kernel's table of sockets", () => {
  test("gives local port and state, of both address families", () => {
    const text = `${head}${row(anyone("1F90"), "0A")}${row(six("0050"), "01")}`;
    expect(tcpRows(text)).toEqual([
      { address: "0.0.0.0", port: 8080, state: "0A" },
      { address: "::", port: 80, state: "01" },
    ]);
  });

  test.each([
    ["0100007F", "127.0.0.1"],
    ["0200A8C0", "192.168.0.2"],
    ["00000000000000000000000001000000", "::1"],
    ["0000000000000000FFFF00000100007F", "127.0.0.1"],
    ["B80D0120000000000000000001000000", "2001:db8::1"],
  ])("says %s as %s", (words, address) => {
    expect(tcpRows(`${head}${row(`${words}:1388`, "0A")}`)).toEqual([{ address, port: 5000, state: "0A" }]);
  });

  test("leaves out the engine's name server", () => {
    expect(tcpRows(`${head}${row("0B00007F:9093", "0A")}${row("0B00007F:9093", "01")}`)).toEqual([]);
  });

  test.each(["", head, `${head}\n`, "nonsense\nmore nonsense\n"])("without sockets gives none: %j", (text) => {
    expect(tcpRows(text)).toEqual([]);
  });

  test("is read as this kernel writes it", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const client = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } });
    const sockets: Socket[] = [];
    server.on("connection", (socket) => sockets.push(socket));
    try {
      const own = () => tcpRows(readFileSync("/proc/self/net/tcp", "utf8")).filter((found) => found.port === port);
      await waitFor("the connection to be in the table", () => servedBy(own()).established === 1);
      expect(servedBy(own())).toEqual({
        listening: true,
        established: 1,
        listeners: [{ address: "127.0.0.1", port }],
      });
    } finally {
      client.end();
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});

const anywhere = (port: number, state: string) => ({ address: "0.0.0.0", port, state });
const on80 = [{ address: "0.0.0.0", port: 80 }];

describe("what is served", () => {
  test("counts connections to ports that listen, not those a container opened itself", () => {
    const rows = [anywhere(80, "0A"), anywhere(80, "01"), anywhere(80, "01"), anywhere(41000, "01")];
    expect(servedBy(rows)).toEqual({ listening: true, established: 2, listeners: on80 });
  });

  test("counts those that are begun and not accepted yet", () => {
    const rows = ["0A", "03", "01"].map((state) => anywhere(80, state));
    expect(servedBy(rows)).toEqual({ listening: true, established: 2, listeners: on80 });
  });

  test("does not count connections that are closing", () => {
    const closing = ["04", "05", "06", "08", "0B"].map((state) => anywhere(80, state));
    const listening = { listening: true, established: 0, listeners: on80 };
    expect(servedBy([anywhere(80, "0A"), ...closing])).toEqual(listening);
  });

  test("is nothing where nothing listens", () => {
    expect(servedBy([anywhere(80, "01")])).toEqual({ listening: false, established: 0, listeners: [] });
  });
});

describe("of a container", () => {
  let proc: string;
  beforeEach(() => {
    proc = mkdtempSync(join(tmpdir(), "connections-"));
  });
  afterEach(() => rmSync(proc, { recursive: true, force: true }));

  function table(name: "tcp" | "tcp6", text: string): void {
    mkdirSync(join(proc, "42/net"), { recursive: true });
    writeFileSync(join(proc, "42/net", name), text);
  }

  function ask(detail: Partial<InspectedPod> | undefined, local = true) {
    const engine = { local } as unknown as DockerClient;
    const inspect = async () => detail as InspectedPod | undefined;
    return createConnections({ engine, inspect, roots: { proc, cgroup: "" } }).connections(podRef("web.1"));
  }

  test("the sockets under its process are counted, of both families together", async () => {
    table("tcp", head + row(anyone("1F90"), "0A") + row(anyone("1F90"), "01"));
    table("tcp6", head + row(six("1F90"), "01"));
    expect(await ask({ pid: 42, networks: {} })).toMatchObject({ listening: true, established: 2 });
  });

  test("one family is enough", async () => {
    table("tcp6", head + row(six("1F90"), "0A"));
    expect(await ask({ pid: 42, networks: {} })).toMatchObject({ listening: true, established: 0 });
  });

  test("nothing is known of one that is gone, does not run, or has no table", async () => {
    expect(await ask(undefined)).toBeUndefined();
    expect(await ask({ pid: undefined, networks: {} })).toBeUndefined();
    expect(await ask({ pid: 42, networks: {} })).toBeUndefined();
  });

  test("nothing is known of one in the network of the machine: other sockets are there too", async () => {
    table("tcp", head + row(anyone("1F90"), "0A"));
    const host = { host: { networkId: "", ipAddress: "", gateway: "", aliases: [] } };
    expect(await ask({ pid: 42, networks: host })).toBeUndefined();
  });

  test("nothing is known where the engine is on another machine", async () => {
    table("tcp", head + row(anyone("1F90"), "0A"));
    expect(await ask({ pid: 42, networks: {} }, false)).toBeUndefined();
  });
});
