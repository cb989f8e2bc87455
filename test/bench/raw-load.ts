import { waitFor } from "../support/wait.ts";

/** One kept-alive HTTP/1.1 connection with one request under way; cheap enough not to be what is measured. */
export interface RawConnection {
  /** Sends `request` as it is; resolves with the status when the whole answer is there. Rejects where the connection ends before. */
  ask(request: string | Buffer): Promise<number>;
  /** Length of the body of the last answer. */
  readonly bodyBytes: number;
  close(): void;
}

interface Reading {
  head: string;
  length: number;
  /** Bytes of the body that are still to come; undefined while the head is not whole. */
  left: number | undefined;
}

/** `to` is a port of loopback, or the path of a unix socket. */
export async function rawConnection(to: number | string): Promise<RawConnection> {
  let reading: Reading = { head: "", length: 0, left: undefined };
  let bodyBytes = 0;
  let done: ((status: number) => void) | undefined;
  let failed: ((error: Error) => void) | undefined;
  const socket: Bun.SocketHandler<undefined> = {
    data(_, chunk) {
      if (reading.left === undefined) {
        reading.head += chunk.toString("latin1");
        const end = reading.head.indexOf("\r\n\r\n");
        if (end < 0) return;
        reading.length = Number(/content-length: (\d+)/i.exec(reading.head)?.[1] ?? 0);
        reading.left = reading.length - (reading.head.length - end - 4);
      } else reading.left -= chunk.length;
      if (reading.left > 0) return;
      const status = Number(reading.head.slice(9, 12));
      bodyBytes = reading.length;
      reading = { head: "", length: 0, left: undefined };
      done?.(status);
    },
    close: () => failed?.(new Error("the server closed the connection")),
  };
  const connected =
    typeof to === "string"
      ? await Bun.connect({ unix: to, socket })
      : await Bun.connect({ hostname: "127.0.0.1", port: to, socket });
  return {
    ask(request) {
      return new Promise((resolve, reject) => {
        done = resolve;
        failed = reject;
        connected.write(request);
      });
    },
    get bodyBytes() {
      return bodyBytes;
    },
    close: () => connected.terminate(),
  };
}

/** Answers per second of `connections` that ask one of `requests` after the other; fails on any status but 200, and on an empty list. */
export async function perSecond(
  port: number,
  requests: readonly Buffer[],
  connections: number,
  durationMs: number,
): Promise<number> {
  const all = await Promise.all(Array.from({ length: connections }, () => rawConnection(port)));
  const begun = performance.now();
  let answers = 0;
  await Promise.all(
    all.map(async (connection) => {
      while (performance.now() - begun < durationMs) {
        const request = requests[answers % requests.length];
        if (request === undefined) throw new Error("nothing to ask");
        answers += 1;
        must200(await connection.ask(request));
        if (isEmpty(connection)) throw new Error("an answer was empty");
      }
      connection.close();
    }),
  );
  return (answers * 1_000) / (performance.now() - begun);
}

/**
 * Times in ms of requests that begin at a fixed rate, whether or not the earlier ones are answered. This process sleeps in
 * between: one that spins would take turns with what it measures. That it wakes a little late is no time of a request.
 */
export async function atRate(port: number, request: Buffer, rate: number, durationMs: number): Promise<number[]> {
  const free = await Promise.all(Array.from({ length: 64 }, () => rawConnection(port)));
  const connections = [...free];
  const times: number[] = [];
  const waiting: number[] = [];
  let problem: unknown;
  const begun = performance.now();
  const send = (connection: RawConnection, from: number) =>
    void connection
      .ask(request)
      .then((status) => {
        must200(status);
        times.push(performance.now() - from);
        const next = waiting.shift();
        if (next === undefined) free.push(connection);
        else send(connection, next);
      })
      .catch((error: unknown) => (problem ??= error));
  let sent = 0;
  while (performance.now() - begun < durationMs) {
    for (; sent < ((performance.now() - begun) * rate) / 1_000; sent++) {
      const connection = free.pop();
      if (connection === undefined) waiting.push(performance.now());
      else send(connection, performance.now());
    }
    await Bun.sleep(1);
  }
  // The slowest count as well: a percentile without them would be that of another load.
  await waitFor("the answers to all requests", () => problem !== undefined || times.length === sent);
  for (const connection of connections) connection.close();
  if (problem !== undefined) throw problem;
  return times;
}

/** Of an answer that is a list of what was found. */
export function isEmpty({ bodyBytes }: RawConnection): boolean {
  return bodyBytes <= "[]\n".length;
}

export function must200(status: number): void {
  if (status !== 200) throw new Error(`status ${status}`);
}

export function percentile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
