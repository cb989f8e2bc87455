import { readFile } from "node:fs/promises";
import type { Clock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import { writeFiles } from "./files.ts";

interface KeepOptions {
  file: string;
  clock: Pick<Clock, "sleep">;
  log: Log;
  /** Between two attempts, while the disk refuses the file. */
  retryMs: number;
  signal: AbortSignal;
}

/** Port and word that a listener of ours had before. Port 0, which is any free one, and a new word when there were none. */
export async function keptIn(file: string): Promise<{ port: number; word: string }> {
  const [port = "", word = ""] = (await readFile(file, "utf8").catch(() => "")).trim().split(" ");
  const isPort = /^\d{1,5}$/.test(port) && Number(port) < 65_536;
  return { port: isPort ? Number(port) : 0, word: /^[0-9a-f-]{36}$/.test(word) ? word : crypto.randomUUID() };
}

/**
 * Keeps port and word for the next server. A disk that refuses the file, for example a full one, keeps no server from
 * serving: the file is tried again until it is written, or `signal` aborts.
 */
export async function keepIn({ port, word }: { port: number; word: string }, options: KeepOptions): Promise<void> {
  const { file, clock, log, retryMs, signal } = options;
  const content = `${port} ${word}\n`;
  const isKept = async () => (await readFile(file, "utf8").catch(() => "")) === content;
  const write = async () => {
    // A file that says it already is not written again: there may be no room for a second one.
    if (!(await isKept())) await writeFiles([{ path: file, content, mode: 0o600 }]);
  };
  const retry = async () => {
    for (let isWritten = false; !isWritten && !signal.aborted;) {
      await clock.sleep(retryMs, signal);
      if (!signal.aborted)
        isWritten = await write().then(
          () => true,
          () => false,
        );
    }
  };
  try {
    await write();
  } catch (error) {
    log.warn("the port of the ingress proxy's connection to the server is not kept yet", { error });
    void retry();
  }
}
