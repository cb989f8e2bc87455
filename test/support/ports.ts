import { createServer } from "node:net";

/** Below the ports that the kernel gives to connections, which would take one between its choice and its use. */
const first = 10_000;
const count = 20_000;
const given = new Set<number>();

/** A TCP port on loopback that nothing listens on just now, and that this process has not asked for before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * count);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
