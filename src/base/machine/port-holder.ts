import { readdir, readFile, readlink } from "node:fs/promises";

/** A socket of this machine that listens. */
export interface Listening {
  ip: string;
  port: number;
  protocol: "tcp" | "udp";
  inode: string;
  uid: string;
}

/** A process that has such a socket. */
export interface PortHolder {
  pid: number;
  /** As `ps -o comm` has it. */
  program: string;
  /** Program of the process that started it; empty where that has ended. */
  startedBy: { pid: number; program: string };
  command: readonly string[];
  /** The service of systemd that it belongs to. */
  unit: string | undefined;
}

/** Files of the kernel with the state that a listening socket has in them. */
const tables = [
  { file: "/proc/net/tcp", protocol: "tcp", state: "0A" },
  { file: "/proc/net/tcp6", protocol: "tcp", state: "0A" },
  { file: "/proc/net/udp", protocol: "udp", state: "07" },
  { file: "/proc/net/udp6", protocol: "udp", state: "07" },
] as const;

/** Every socket that listens in this network namespace, of any process. Source: proc_net_tcp(5). */
export async function listening(): Promise<Listening[]> {
  const found = await Promise.all(
    tables.map(async ({ file, protocol, state }) => {
      const rows = (await readFile(file, "utf8").catch(() => "")).split("\n").slice(1);
      return rows.flatMap((row): Listening[] => {
        const fields = row.trim().split(/\s+/);
        const [address = "", port = ""] = (fields[1] ?? "").split(":");
        if (fields[3] !== state) return [];
        return [
          {
            ip: ipOf(address),
            port: Number.parseInt(port, 16),
            protocol,
            inode: fields[9] ?? "",
            uid: fields[7] ?? "",
          },
        ];
      });
    }),
  );
  return found.flat();
}

/** The TCP sockets that have a port which `address` (`host:port`, `:port`, `[::]:port`) needs. */
export async function listeningOn(address: string): Promise<Listening[]> {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "");
  const ip = host === "localhost" ? "127.0.0.1" : host || "0.0.0.0";
  const port = Number(address.slice(colon + 1));
  const isMet = (other: Listening) => other.ip === ip || includes(ip, other.ip) || includes(other.ip, ip);
  const sockets = await listening();
  return onlyFor(
    ip,
    sockets.filter((other) => other.protocol === "tcp" && other.port === port && isMet(other)),
    sockets,
  );
}

/** Keeps those sockets, among those that overlap with an address, which take it: for IPv4, not one on `::` that is for IPv6 alone. */
export async function onlyFor(
  ip: string,
  found: readonly Listening[],
  all: readonly Listening[],
): Promise<Listening[]> {
  if (ip.includes(":")) return [...found];
  const taking: Listening[] = [];
  for (const socket of found) if (socket.ip !== "::" || (await takesIPv4(socket, all))) taking.push(socket);
  return taking;
}

/**
 * Whether a socket on `::` takes its port of IPv4 as well. The tables of the kernel do not say it. It gives a port twice
 * to sockets of one user at most, so what another user has on IPv4 shows that this one is for IPv6 alone. Where nothing
 * has the port on IPv4, it is tried.
 */
async function takesIPv4({ port, protocol, uid }: Listening, all: readonly Listening[]): Promise<boolean> {
  if (protocol !== "tcp") return true;
  const four = all.filter((other) => other.protocol === "tcp" && other.port === port && !other.ip.includes(":"));
  if (four.length > 0) return four.every((other) => other.uid === uid);
  try {
    Bun.listen({ hostname: "0.0.0.0", port, socket: { data() {} } }).stop(true);
    return false;
  } catch {
    return true;
  }
}

/** Whether every address means that one as well. `::` may be for IPv4 too, which the kernel does not show. */
function includes(every: string, ip: string): boolean {
  return every === "::" || (every === "0.0.0.0" && (ip === "::" || !ip.includes(":")));
}

/** The processes that have any of these sockets, as far as they can be looked into. Processes end while we look. */
export async function* holdersOf(sockets: readonly Listening[]): AsyncGenerator<PortHolder> {
  if (sockets.length === 0) return;
  const wanted = new Set(sockets.map(({ inode }) => `socket:[${inode}]`));
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry)).map(Number);
  for (const pid of pids) {
    const folder = `/proc/${pid}/fd`;
    for (const file of await readdir(folder).catch(() => [])) {
      if (!wanted.has(await readlink(`${folder}/${file}`).catch(() => ""))) continue;
      yield await holder(pid);
      break;
    }
  }
}

/** The first that is found. */
export async function holderOf(sockets: readonly Listening[]): Promise<PortHolder | undefined> {
  for await (const found of holdersOf(sockets)) return found;
  return undefined;
}

async function holder(pid: number): Promise<PortHolder> {
  const [status, command, groups] = await Promise.all(
    ["status", "cmdline", "cgroup"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
  );
  const parent = Number(/^PPid:\s*(\d+)$/m.exec(status ?? "")?.[1] ?? 0);
  return {
    pid,
    program: await programOf(pid),
    startedBy: { pid: parent, program: parent === 0 ? "" : await programOf(parent) },
    command: (command ?? "").split("\0").filter((word) => word !== ""),
    unit: /\/([^/\n]+\.service)$/m.exec(groups ?? "")?.[1],
  };
}

async function programOf(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim();
}

/** `process 812 (nginx)`, which is what a person looks for. */
export function holderText({ pid, program }: PortHolder): string {
  return `process ${pid} (${program})`;
}

/** What has the port of an address, and how it is ended: a sentence for somebody who has to free the port. */
export async function portTaken(address: string, found: PortHolder | undefined): Promise<string> {
  if (found === undefined) return `address ${address} is in use, stop what uses it or choose another address`;
  return `address ${address} is in use by ${holderText(found)}; ${await ending(found, address)}, or choose another address`;
}

async function ending({ pid, program, startedBy, unit }: PortHolder, address: string): Promise<string> {
  const port = address.slice(address.lastIndexOf(":") + 1);
  if (program === "docker-proxy") return `find its container with "docker ps --filter publish=${port}" and stop it`;
  const own = await readFile("/proc/self/cgroup", "utf8").catch(() => "");
  // What a service has left behind can be in the group of the one that asks.
  if (unit !== undefined && !own.includes(`/${unit}`)) return `end it with "systemctl stop ${unit}"`;
  // A worker that is ended alone is started again.
  return `end it with "kill ${startedBy.program === program ? startedBy.pid : pid}"`;
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
