import { once } from "node:events";
import { createServer } from "node:net";

/** A listener on `[::]` and a free port, with or without IPv4. */
export async function listenOnSix(ipv6Only: boolean): Promise<{ port: number } & Disposable> {
  const server = createServer().listen({ host: "::", port: 0, ipv6Only });
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, [Symbol.dispose]: () => void server.close() };
}
