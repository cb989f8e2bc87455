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

/** Answers per second, or why the load was none. */
export type LoadFound = { perSecond: number } | { problem: string };

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<LoadOrder>) => {
  self.postMessage(await load(data).catch((error: unknown): LoadFound => ({ problem: String(error) })));
};

const headEnd = "\r\n\r\n";
const fine = Buffer.from("HTTP/1.1 200 ");

/** Over kept-alive connections, each with one request under way. Bodies hold no empty line. */
async function load(order: LoadOrder): Promise<LoadFound> {
  const texts = order.requests ?? [`GET ${order.path} HTTP/1.1\r\nHost: localhost\r\n\r\n`];
  const requests = texts.map((text) => Buffer.from(text));
  let sent = 0;
  const ask = (socket: Socket) => {
    const request = requests[sent % requests.length];
    sent += 1;
    if (request !== undefined) socket.write(request);
  };
  let answers = 0;
  let problem: string | undefined;
  let isOver = false;
  const handlers = {
    data(socket: Socket, chunk: Buffer) {
      if (!chunk.includes(headEnd)) return;
      // What is refused costs less than what is answered.
      if (!chunk.subarray(0, fine.length).equals(fine)) problem ??= `answered ${chunk.toString().slice(0, 300)}`;
      answers += 1;
      ask(socket);
    },
    close() {
      if (!isOver) problem ??= "the server closed a connection";
    },
  };
  const { hostname, port } = order;
  const connect = () => Bun.connect({ hostname, port, socket: handlers });
  const sockets = await Promise.all(Array.from({ length: order.connections }, connect));
  const startedAt = performance.now();
  for (const socket of sockets) ask(socket);
  await Bun.sleep(order.durationMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  isOver = true;
  for (const socket of sockets) socket.terminate();
  if (answers === 0) problem ??= "nothing was answered";
  return problem === undefined ? { perSecond: answers / seconds } : { problem };
}
