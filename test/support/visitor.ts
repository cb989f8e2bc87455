import type { Socket } from "bun";

/** One HTTP/1.1 connection that sends nothing twice. */
export interface Visitor {
  readonly isOpen: boolean;
  /** Requests so far. */
  readonly asked: number;
  /** Resolves when the whole answer is there; fails when the connection ends before, or after `timeoutMs`. */
  ask(request: string, timeoutMs: number): Promise<{ status: number; head: string }>;
  close(): void;
}

interface Pending {
  resolve(answer: { status: number; head: string }): void;
  reject(error: Error): void;
}

/** Connects to a port of 127.0.0.1. */
export async function visitor(port: number): Promise<Visitor> {
  let isOpen = true;
  let asked = 0;
  let text = "";
  let pending: Pending | undefined;
  const ended = (why: string) => {
    isOpen = false;
    pending?.reject(new Error(`${why} after ${text.length} bytes of the answer`));
    pending = undefined;
  };
  const socket: Socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, chunk) {
        text += chunk.toString("latin1");
        const end = text.indexOf("\r\n\r\n");
        if (end < 0 || pending === undefined) return;
        const head = text.slice(0, end);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        if (text.length < end + 4 + length) return;
        if (/^connection: close/im.test(head)) isOpen = false;
        pending.resolve({ status: Number(head.slice(9, 12)), head });
        pending = undefined;
      },
      end: () => ended("connection ended"),
      close: () => ended("connection closed"),
      error: (_, error) => ended(String(error)),
    },
  });
  return {
    get isOpen() {
      return isOpen;
    },
    get asked() {
      return asked;
    },
    async ask(request, timeoutMs) {
      asked += 1;
      text = "";
      const { promise, resolve, reject } = Promise.withResolvers<{ status: number; head: string }>();
      pending = { resolve, reject };
      const timer = setTimeout(() => ended(`no answer in ${timeoutMs} ms`), timeoutMs);
      socket.write(request);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      isOpen = false;
      socket.terminate();
    },
  };
}
