import { createServer, type Server } from "node:net";

/** Below the ports that the kernel gives to connections, which would take one between its choice and its use. */
const first = 10_000;
/** Each process has a range of its own, so that none gives away what another has chosen and not bound yet. */
const ranges = 20;
const perRange = 1_000;
const given = new Set<number>();
let own: Promise<number> | undefined;

/** A TCP port on loopback that nothing listens on just now, and that nothing in this network namespace was given before. */
export async function freePort(): Promise<number> {
  own ??= ownRange();
  const start = await own;
  for (;;) {
    if (given.size === perRange - 1) given.clear();
    const port = start + 1 + Math.floor(Math.random() * (perRange - 1));
    if (given.has(port)) continue;
    given.add(port);
    const server = await listening(port);
    if (server === undefined) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** The first port of a range is its lock: the kernel gives it to one process, and frees it at the end of that process. */
async function ownRange(): Promise<number> {
  const begin = Math.floor(Math.random() * ranges);
  for (let tried = 0; tried < ranges; tried += 1) {
    const start = first + ((begin + tried) % ranges) * perRange;
    const lock = await listening(start);
    if (lock === undefined) continue;
    lock.unref();
    return start;
  }
  throw new Error(`all ${ranges} ranges of ports are taken by other processes of tests`);
}

function listening(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
