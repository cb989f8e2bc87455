import { readdir, readFile, readlink } from "node:fs/promises";
import { Failure } from "../../../base/wire/failure.ts";
import { portsClash } from "../../core/ports.ts";
import type { PortBinding } from "../../core/workload.ts";
import type { PortHolder } from "../machine.ts";
import type { DockerClient } from "./client.ts";
import { portIn } from "./errors.ts";

/** A `PortTaken` failure with the name of who holds the port, where that can be seen; any other error as it is. */
export async function withPortHolder(engine: DockerClient, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure) || error.reason !== "PortTaken") return error;
  const port = portIn(error.message);
  if (port === undefined) return error;
  const [found] = (await published(engine).catch(() => [])).filter(({ binding }) => binding.hostPort === port);
  const text = found?.holder ?? (engine.local ? await processHolding(port) : undefined);
  if (text === undefined) return error;
  return new Failure(error.code, `${error.message} (host port ${port} is held by ${text})`, {
    reason: error.reason,
    cause: error.cause,
  });
}

/** See `Runtime`. Programs are looked for only where no container publishes the port: its proxy listens, too. */
export async function portHolders(engine: DockerClient, bindings: readonly PortBinding[]): Promise<PortHolder[]> {
  if (bindings.length === 0) return [];
  const containers = await published(engine);
  const sockets = engine.local ? await listeners() : [];
  const found: PortHolder[] = [];
  for (const binding of bindings) {
    const publishing = containers.filter((other) => portsClash(binding, other.binding));
    const byId = new Map(publishing.map(({ container, holder }) => [container, { binding, holder, container }]));
    found.push(...byId.values());
    const listening = sockets.filter((other) => portsClash(binding, other.binding));
    if (byId.size > 0 || listening.length === 0) continue;
    found.push({ binding, holder: (await processOf(listening)) ?? "another program", container: undefined });
  }
  return found;
}

interface Published {
  container: string;
  holder: string;
  binding: PortBinding;
}

/** The host ports of every running container, ours or not. */
async function published(engine: DockerClient): Promise<Published[]> {
  const rows = await engine.call({ verb: "list", subject: "containers" }, (docker, abortSignal) =>
    docker.listContainers({ abortSignal }),
  );
  return rows.flatMap(({ Id, Names, Ports }) =>
    (Ports ?? []).flatMap(({ IP, PublicPort, PrivatePort, Type }): Published[] => {
      const protocol = protocols.find((known) => known === Type);
      if (!PublicPort || protocol === undefined) return [];
      const holder = `container "${Names[0]?.replace(/^\//, "") ?? Id}"`;
      const binding = { hostIp: IP || "0.0.0.0", hostPort: PublicPort, containerPort: PrivatePort, protocol };
      return [{ container: Id, holder, binding }];
    }),
  );
}

const protocols = ["tcp", "udp", "sctp"] as const;

/** `process 812 (postgres)` when /proc shows who listens on a TCP port of this machine. */
export async function processHolding(port: number): Promise<string | undefined> {
  const sockets = await listeners();
  return processOf(sockets.filter(({ binding }) => binding.hostPort === port && binding.protocol === "tcp"));
}

interface Listener {
  binding: PortBinding;
  inode: string;
}

async function processOf(sockets: readonly Listener[]): Promise<string | undefined> {
  if (sockets.length === 0) return undefined;
  const wanted = new Set(sockets.map(({ inode }) => `socket:[${inode}]`));
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  for (const pid of pids) {
    const folder = `/proc/${pid}/fd`;
    // Processes end while we look, and some are not ours to look into.
    for (const file of await readdir(folder).catch(() => [])) {
      if (!wanted.has(await readlink(`${folder}/${file}`).catch(() => ""))) continue;
      return `process ${pid} (${(await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim()})`;
    }
  }
  return undefined;
}

/** Files of the kernel with the state that a listening socket has in them. */
const tables = [
  { file: "/proc/net/tcp", protocol: "tcp", listening: "0A" },
  { file: "/proc/net/tcp6", protocol: "tcp", listening: "0A" },
  { file: "/proc/net/udp", protocol: "udp", listening: "07" },
  { file: "/proc/net/udp6", protocol: "udp", listening: "07" },
] as const;

async function listeners(): Promise<Listener[]> {
  const found = await Promise.all(
    tables.map(async ({ file, protocol, listening }) => {
      const rows = (await readFile(file, "utf8").catch(() => "")).split("\n").slice(1);
      return rows.flatMap((row): Listener[] => {
        const fields = row.trim().split(/\s+/);
        const [address = "", port = ""] = (fields[1] ?? "").split(":");
        if (fields[3] !== listening) return [];
        const hostPort = Number.parseInt(port, 16);
        return [
          { binding: { hostIp: ipOf(address), hostPort, containerPort: hostPort, protocol }, inode: fields[9] ?? "" },
        ];
      });
    }),
  );
  return found.flat();
}

/** `0100007F` is 127.0.0.1: the kernel prints addresses as words in the byte order of the machine. */
export function ipOf(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => (word.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).reverse());
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff) {
    return bytes.slice(12).join(".");
  }
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}
