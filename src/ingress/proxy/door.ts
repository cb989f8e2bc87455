import type { Clock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { keepIn, keptIn } from "./port-file.ts";

/** Takes the questions of the proxy about names without a certificate, each as one line over a connection of its own. */
export interface Door {
  /** `127.0.0.1:port`. It stays the same as long as the port is free, because another one costs a load of the proxy. */
  address: string;
  /** Each question begins with it: other programs of the machine can connect, but do not know it. */
  word: string;
  close(): void;
}

export interface DoorOptions {
  /** Keeps the port and the word over restarts, for the proxy that runs. */
  portFile: string;
  /** Whether the handshake for a name may go on with a certificate. Resolves when that is decided. */
  answer: (name: string, client: string, signal: AbortSignal) => Promise<boolean>;
  /** Until a question is answered with no. */
  waitMs: number;
  /** Questions at one time. More connections are closed at once. */
  connectionsMax: number;
  clock: Pick<Clock, "sleep">;
  log: Log;
  /** Between two attempts to write that file, while the disk refuses it. */
  retryMs: number;
}

interface Asked {
  text: string;
  stopping: AbortController;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const hostname = "127.0.0.1";
/** A name of 253 characters, the word and an address. */
const lineMax = 400;

export async function openDoor(options: DoorOptions): Promise<Door> {
  const { portFile, answer, waitMs, connectionsMax, clock, log, retryMs } = options;
  const kept = await keptIn(portFile);
  const { word } = kept;
  const open = new Set<Bun.Socket<Asked>>();

  const ask = async (socket: Bun.Socket<Asked>, line: string): Promise<void> => {
    const [said, name = "", client = ""] = line.split(" ");
    const isOurs = said === word;
    const { signal } = socket.data.stopping;
    const isYes = isOurs && (await answer(name, client, signal));
    socket.end(isYes ? "yes\n" : "no\n");
  };
  const socket: Bun.SocketHandler<Asked> = {
    open(one) {
      one.data = { text: "", stopping: new AbortController(), timer: undefined };
      if (open.size >= connectionsMax) return void one.end();
      open.add(one);
      one.data.timer = setTimeout(() => {
        one.data.stopping.abort();
        // One that asks nothing would keep the place of another for ever.
        if (!one.data.text.includes("\n")) one.terminate();
      }, waitMs);
    },
    data(one, bytes) {
      const { data } = one;
      if (data.text.includes("\n") || data.stopping.signal.aborted) return;
      data.text += bytes.toString("latin1");
      const end = data.text.indexOf("\n");
      if (end < 0 && data.text.length > lineMax) return void one.end();
      if (end < 0) return;
      ask(one, data.text.slice(0, end)).catch((error: unknown) => {
        log.error("question about a certificate failed", { error });
        one.end("no\n");
      });
    },
    close(one) {
      clearTimeout(one.data.timer);
      one.data.stopping.abort();
      open.delete(one);
    },
  };
  const listen = (port: number) => Bun.listen<Asked>({ hostname, port, data: undefined as never, socket });
  const listener = listenOn(kept.port, listen);
  const closing = new AbortController();
  await keepIn({ port: listener.port, word }, { file: portFile, clock, log, retryMs, signal: closing.signal });
  return {
    address: `${hostname}:${listener.port}`,
    word,
    close() {
      closing.abort();
      listener.stop(true);
      for (const one of open) clearTimeout(one.data.timer);
    },
  };
}

/** A port that another program has taken meanwhile is replaced by a free one. */
function listenOn<T>(port: number, listen: (port: number) => T): T {
  try {
    return listen(port);
  } catch {
    return listen(0);
  }
}
