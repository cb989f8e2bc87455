import { readFile } from "node:fs/promises";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { writeFiles } from "./files.ts";

/** Takes one line for each request from the proxy, as a datagram on loopback. */
export interface Receiver {
  /** `127.0.0.1:port`. It stays the same as long as the port is free, because another one costs a load of the proxy. */
  address: string;
  /** Lines beyond the rate, since the server started. */
  dropped(): number;
  close(): void;
}

export interface ReceiverOptions {
  /** Keeps the port, so that the next server listens there again. */
  portFile: string;
  linesPerSecondMax: number;
  onLine(line: string): void;
  clock: Pick<SteadyClock, "steady">;
  log: Log;
}

const hostname = "127.0.0.1";

export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { portFile, linesPerSecondMax, onLine, clock, log } = options;
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

  const data = (_: unknown, datagram: Buffer): void => {
    if (!hasRoom()) {
      dropped += 1;
      return;
    }
    try {
      onLine(datagram.toString("utf8"));
    } catch (error) {
      log.error("a line of the ingress proxy was not counted", { error });
    }
  };
  const open = async (port: number) => Bun.udpSocket({ hostname, port, socket: { data } });
  const socket = await open(await portOf(portFile)).catch(() => open(0));
  await writeFiles([{ path: portFile, content: `${socket.port}\n`, mode: 0o600 }]);
  return { address: `${hostname}:${socket.port}`, dropped: () => dropped, close: () => socket.close() };
}

/** 0, which is any free one, when there was none before. */
async function portOf(file: string): Promise<number> {
  const port = Number(await readFile(file, "utf8").catch(() => "0"));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0;
}
