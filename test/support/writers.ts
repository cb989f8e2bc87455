import { waitFor } from "./wait.ts";

/** What a server answers that takes no writes. Its connection stays as it is: a new one costs far more CPU than a question. */
export class Refused extends Error {}

/** A connection to one server, which ends at the first error that is no `Refused`. */
export interface Connection {
  /** Resolves when the server has acknowledged the number. Rejects with `Refused` where it takes no writes. */
  write(n: number): Promise<void>;
  /** Whether the server takes writes. */
  leads(): Promise<boolean>;
  close(): void;
}

/** Opens a connection to the pod with this ordinal; rejects where that does not run or does not answer. */
export type Dial = (ordinal: number) => Promise<Connection>;

/** Clients that write a number again and again, and note each that was acknowledged. */
export interface Writers {
  /** Ends them; the numbers that were acknowledged. */
  stop(): Promise<number[]>;
  /** Resolves when one more write was acknowledged. */
  goOn(): Promise<void>;
}

/** Short enough for many writes within each step of a promotion. */
const pauseMs = 100;

/** Longest wait for an answer. A write that waits for a standby may need some of it. */
const answerMs = 5_000;

let started = 0;

/** Connections to some servers, which are kept until they fail: a client that logs in each time costs far more CPU. */
export function connections(dial: Dial) {
  const open = new Map<number, Connection>();
  const drop = (ordinal: number) => {
    open.get(ordinal)?.close();
    open.delete(ordinal);
  };
  return {
    async ask<T>(ordinal: number, question: (server: Connection) => Promise<T>): Promise<T> {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error(`pod ${ordinal} does not answer`)), answerMs);
      const answer = (async () => {
        const server = open.get(ordinal) ?? (await dial(ordinal));
        open.set(ordinal, server);
        return question(server);
      })();
      answer.catch(() => undefined);
      try {
        return await Promise.race([answer, late.promise]);
      } catch (error) {
        if (!(error instanceof Refused)) drop(ordinal);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => [...open.keys()].forEach(drop),
  };
}

/** Starts three of them. Each writes to the server that acknowledged its last write, and tries the others when that fails. */
export async function writers(dial: Dial, ordinals: readonly number[]): Promise<Writers> {
  const acknowledged: number[] = [];
  let isOver = false;
  // Numbers of an earlier call are there already.
  started += 1;
  const first = started * 100_000_000;

  async function run(number: number): Promise<void> {
    const servers = connections(dial);
    let order = ordinals;
    for (let n = first + number * 1_000_000; !isOver; n += 1) {
      for (const ordinal of order) {
        try {
          await servers.ask(ordinal, (server) => server.write(n));
          acknowledged.push(n);
          order = [ordinal, ...ordinals.filter((other) => other !== ordinal)];
          break;
        } catch {
          // The next one may be primary by now.
        }
      }
      await Bun.sleep(pauseMs);
    }
    servers.close();
  }

  const running = [1, 2, 3].map(run);
  const goOn = async () => {
    const before = acknowledged.length;
    await waitFor("a write to be acknowledged", () => acknowledged.length > before, 60_000);
  };
  await goOn();
  return {
    goOn,
    async stop() {
      isOver = true;
      await Promise.all(running);
      return acknowledged;
    },
  };
}
