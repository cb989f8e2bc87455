import { readFileSync } from "node:fs";
import type { TcpServed } from "../pod.ts";
import type { Engine } from "../engine.ts";
import type { SystemRoots } from "./cgroup.ts";
import type { DockerClient } from "./client.ts";
import type { Inspect } from "./containers.ts";

/** States of the kernel's socket table (include/net/tcp_states.h), as it prints them. */
const established = "01";
/** Begun, and not accepted yet. */
const synReceived = "03";
const listen = "0A";

/** The engine's own name server, 127.0.0.11, listens in every container of a network like ours. As the kernel prints it. */
const engineResolver = "0B00007F";

interface TcpRow {
  address: string;
  port: number;
  state: string;
}

/** Local address, port and state of each socket in the text of `/proc/<pid>/net/tcp` or `tcp6`, without those of the engine. */
export function tcpRows(text: string): TcpRow[] {
  return text
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, local = "", , state = ""] = line.trim().split(/\s+/);
      const [words = "", end = ""] = local.split(":");
      const port = Number.parseInt(end, 16);
      return Number.isNaN(port) || words === engineResolver ? [] : [{ address: addressIn(words), port, state }];
    });
}

/** The kernel of a little-endian machine prints words of four bytes, each back to front. */
function addressIn(words: string): string {
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  const numbers = bytes.map((byte) => Number.parseInt(byte, 16));
  if (numbers.length === 4) return numbers.join(".");
  if (numbers.slice(0, 12).join() === mappedPrefix) return numbers.slice(12).join(".");
  const groups = numbers.flatMap((byte, index) => (index % 2 === 0 ? [(byte << 8) | (numbers[index + 1] ?? 0)] : []));
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(1, -1);
}

/** Prefix of an IPv4 address in an IPv6 table. */
const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255].join();

/** What a network serves: what listens, and how many connections those ports have. */
export function servedBy(rows: readonly TcpRow[]): TcpServed {
  const listeners = rows.filter(({ state }) => state === listen).map(({ address, port }) => ({ address, port }));
  const ports = new Set(listeners.map(({ port }) => port));
  const open = rows.filter(({ state, port }) => (state === established || state === synReceived) && ports.has(port));
  return { listening: ports.size > 0, established: open.length, listeners };
}

/** See `Engine.connections`: the kernel shows the sockets of a process's network under its pid. */
export function createConnections({
  engine,
  inspect,
  roots,
}: {
  engine: DockerClient;
  inspect: Inspect;
  roots: SystemRoots;
}): Pick<Engine, "connections"> {
  return {
    connections: async ({ id }) => {
      if (!engine.local) return undefined;
      const detail = await inspect(id);
      if (detail?.pid === undefined || "host" in detail.networks) return undefined;
      const tables = ["tcp", "tcp6"].map((name) => read(`${roots.proc}/${detail.pid}/net/${name}`));
      if (tables.every((text) => text === undefined)) return undefined;
      return servedBy(tables.flatMap((text) => tcpRows(text ?? "")));
    },
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
