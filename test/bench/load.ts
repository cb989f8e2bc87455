import type { Socket } from "bun";

/** Runs as a worker, so that making the load does not take turns of the loop that answers it. */
export interface LoadOrder {
  hostname: string;
  port: number;
  path: string;
  /** Whole requests instead of a GET of the path, taken in turn. */
  requests?: readonly string[];
  connections: number;
  durationMs: number;
}

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<LoadOrder>) => {
  self.postMessage(await load(data));
};

/** Answers per second over kept-alive connections, each with one request under way. Bodies hold no empty line. */
async function load(order: LoadOrder): Promise<number> {
  const texts = order.requests ?? [`GET ${order.path} HTTP/1.1\r\nHost: localhost\r\n\r\n`];
  const requests = texts.map((text) => Buffer.from(text));
  let sent = 0;
  const ask = (socket: Socket) => {
    const request = requests[sent % requests.length];
    sent += 1;
    if (request !== undefined) socket.write(request);
  };
  let answers = 0;
  const handlers = {
    data(socket: Socket, chunk: Buffer) {
      if (!chunk.includes("\r\n\r\n")) return;
      answers += 1;
      ask(socket);
    },
  };
  const { hostname, port } = order;
  const connect = () => Bun.connect({ hostname, port, socket: handlers });
  const sockets = await Promise.all(Array.from({ length: order.connections }, connect));
  const startedAt = performance.now();
  for (const socket of sockets) ask(socket);
  await Bun.sleep(order.durationMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const socket of sockets) socket.terminate();
  return answers / seconds;
}
