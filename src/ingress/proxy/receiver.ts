import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { keepIn, keptIn } from "./port-file.ts";

/** Takes one line for each request from the proxy, as a datagram on loopback. */
export interface Receiver {
  /** `127.0.0.1:port`. It stays the same as long as the port is free, because another one costs a load of the proxy. */
  address: string;
  /**
   * Only a line that begins with this word and a space counts: every program of the machine can send to the port, and
   * the figures decide over releases. Only the owner of the proxy's files can read it.
   */
  word: string;
  /** Lines beyond the rate, since the server started. */
  dropped(): number;
  close(): void;
}

interface ReceiverOptions {
  /** Keeps the port and the word, so that the next server takes the lines of the proxy that runs. */
  portFile: string;
  linesPerSecondMax: number;
  onLine(line: string): void;
  clock: Pick<SteadyClock, "sleep" | "steady">;
  log: Log;
  /** Between two attempts to write that file, while the disk refuses it. */
  retryMs: number;
}

const hostname = "127.0.0.1";

export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { portFile, linesPerSecondMax, onLine, clock, log, retryMs } = options;
  let dropped = 0;
  let second = 0;
  let count = 0;

  /** Whether the second has room for another line. */
  function hasRoom(): boolean {
    const now = Math.floor(clock.steady() / 1_000);
    if (now !== second) [second, count] = [now, 0];
    count += 1;
    return count <= linesPerSecondMax;
  }

  const kept = await keptIn(portFile);
  const { word } = kept;
  const data = (_: unknown, datagram: Buffer): void => {
    const text = datagram.toString("utf8");
    if (!text.startsWith(`${word} `)) return;
    if (!hasRoom()) {
      dropped += 1;
      return;
    }
    try {
      onLine(text.slice(word.length + 1));
    } catch (error) {
      log.error("a line of the ingress proxy was not counted", { error });
    }
  };
  const open = async (port: number) => Bun.udpSocket({ hostname, port, socket: { data } });
  const socket = await open(kept.port).catch(() => open(0));
  const closing = new AbortController();
  await keepIn({ port: socket.port, word }, { file: portFile, clock, log, retryMs, signal: closing.signal });
  return {
    address: `${hostname}:${socket.port}`,
    word,
    dropped: () => dropped,
    close() {
      closing.abort();
      socket.close();
    },
  };
}
