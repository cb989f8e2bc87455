import { readdir, readFile, readlink } from "node:fs/promises";
import { Failure } from "../../api/failure.ts";
import type { Engine } from "./engine.ts";
import { portIn } from "./errors.ts";

/** A `PortTaken` failure with the name of who holds the port, where that can be seen; any other error as it is. */
export async function withPortHolder(engine: Engine, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure) || error.reason !== "PortTaken") return error;
  const port = portIn(error.message);
  if (port === undefined) return error;
  const holder = await containerHolding(engine, port).catch(() => undefined);
  const text = holder ?? (engine.local ? await processHolding(port) : undefined);
  if (text === undefined) return error;
  return new Failure(error.code, `${error.message} (host port ${port} is held by ${text})`, {
    reason: error.reason,
    cause: error.cause,
  });
}

async function containerHolding(engine: Engine, port: number): Promise<string | undefined> {
  const rows = await engine.call({ verb: "list", subject: "containers" }, (docker, abortSignal) =>
    docker.listContainers({ abortSignal }),
  );
  const row = rows.find(({ Ports }) => (Ports ?? []).some(({ PublicPort }) => PublicPort === port));
  return row === undefined ? undefined : `container "${row.Names[0]?.replace(/^\//, "") ?? row.Id}"`;
}

/** `process 812 (postgres)` when /proc shows who listens on a TCP port of this machine. */
export async function processHolding(port: number): Promise<string | undefined> {
  const sockets = await listeningSockets(port);
  if (sockets.size === 0) return undefined;
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  for (const pid of pids) {
    const folder = `/proc/${pid}/fd`;
    // Processes end while we look, and some are not ours to look into.
    for (const file of await readdir(folder).catch(() => [])) {
      if (!sockets.has(await readlink(`${folder}/${file}`).catch(() => ""))) continue;
      return `process ${pid} (${(await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim()})`;
    }
  }
  return undefined;
}

async function listeningSockets(port: number): Promise<Set<string>> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const listening = "0A";
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map((path) => readFile(path, "utf8").catch(() => ""));
  const rows = (await Promise.all(tables)).flatMap((table) => table.split("\n").slice(1));
  const fields = rows.map((row) => row.trim().split(/\s+/));
  const found = fields.filter((field) => field[1]?.endsWith(local) && field[3] === listening);
  return new Set(found.map((field) => `socket:[${field[9]}]`));
}
