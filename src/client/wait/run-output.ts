import { createHarmlessBytes, type HarmlessBytes } from "../text/harmless-bytes.ts";
import { isUnread, OutputFailure } from "../basics/output.ts";
import type { JobRun } from "../../orchestration/api/jobs.ts";
import { podLogs } from "../../orchestration/api/logs.ts";
import { createLineTail, type LineTail } from "../../base/words/lines.ts";
import type { Context } from "../shell/command.ts";

/** Output of a run as it comes, try by try. */
export interface RunOutput {
  /** Shows the container of the present try; where its output broke off, it goes on from there. */
  follow(run: JobRun): void;
  /**
   * Resolves when all has been shown that comes: what of the last lines that the server has kept is missing from it.
   * `dropped`: there is a gap before them. The first line may be the rest of one that was begun.
   */
  missing(container: string, tail: readonly string[]): Promise<{ lines: readonly string[]; dropped: boolean }>;
}

/** What is on the screen of one container's output. */
interface Shown {
  bytes: number;
  lines: LineTail;
  decoder: TextDecoder;
  door: HarmlessBytes;
  /** Its last line has not ended. */
  isOpen: boolean;
  reading: Promise<void> | undefined;
  /** Not before this it is read again: one that came to its end is mostly over. */
  againAt: number;
}

/** Between the end of an output and another look for more of it, while the run goes on. */
const againMs = 2_000;

/** As many as the server keeps, and more. */
const linesMax = 100;
/** Bytes of a chunk: longer than the lines that are kept. */
const lastBytesMax = 256 * 1024;
const newline = "\n".charCodeAt(0);

export function createRunOutput(context: Context): RunOutput {
  const containers = new Map<string, Shown>();
  let refused: OutputFailure | undefined;

  async function read(container: string, shown: Shown): Promise<void> {
    const { streams: api, rawTerminal, signal } = context;
    const response = await api.raw(podLogs, { params: { name: container }, query: { follow: "true" }, signal });
    // It may be gone already: its last lines are in the record.
    if (!response.ok) return;
    const body: AsyncIterable<Uint8Array> | null = response.body;
    let seen = 0;
    for await (const chunk of body ?? []) {
      const fresh = chunk.subarray(Math.max(0, shown.bytes - seen));
      seen += chunk.length;
      if (fresh.length === 0) continue;
      await rawTerminal.stdout(shown.door.push(fresh));
      shown.bytes += fresh.length;
      shown.isOpen = fresh.at(-1) !== newline;
      shown.lines.push(shown.decoder.decode(fresh.subarray(-lastBytesMax), { stream: true }));
    }
  }

  return {
    follow({ container }) {
      const shown = containers.get(container) ?? freshlyShown();
      containers.set(container, shown);
      if (shown.reading !== undefined || context.clock.now() < shown.againAt) return;
      shown.reading = read(container, shown)
        .then(() => {
          shown.againAt = context.clock.now() + againMs;
        })
        // Broken off by a restart of the server: it goes on as soon as that is back.
        .catch((error: unknown) => {
          if (error instanceof OutputFailure && !isUnread(error)) refused ??= error;
        })
        .finally(() => {
          shown.reading = undefined;
        });
    },
    async missing(container, tail) {
      await Promise.all([...containers.values()].map(({ reading }) => reading));
      if (refused !== undefined) throw refused;
      const shown = containers.get(container);
      if (shown === undefined || shown.bytes === 0) return { lines: tail, dropped: false };
      const left = leftOf(shown, tail);
      if (shown.isOpen && (left === undefined || left.length === 0)) {
        await context.rawTerminal.stdout(Uint8Array.of(newline));
      }
      return { lines: left ?? tail, dropped: left === undefined };
    },
  };
}

function freshlyShown(): Shown {
  const decoder = new TextDecoder();
  const door = createHarmlessBytes();
  return { bytes: 0, lines: createLineTail(linesMax), decoder, door, isOpen: false, reading: undefined, againAt: 0 };
}

/** What of `tail` comes after what is shown; undefined where the one does not follow upon the other. */
function leftOf({ lines, isOpen }: Shown, tail: readonly string[]): readonly string[] | undefined {
  if (tail.length === 0) return [];
  const printed = lines.lines();
  const last = printed.pop() ?? "";
  for (let end = tail.length - 1; end >= 0; end--) {
    const line = tail[end] ?? "";
    const isSame = line === last || (isOpen && line.startsWith(last));
    const before = tail.slice(0, end);
    if (!isSame || !isTail(printed, before)) continue;
    const rest = tail.slice(end + 1);
    return isOpen && (rest.length > 0 || line !== last) ? [line.slice(last.length), ...rest] : rest;
  }
  return undefined;
}

/** As far as both reach. */
function isTail(printed: readonly string[], lines: readonly string[]): boolean {
  return lines.every((line, index) => {
    const shown = printed.at(index - lines.length);
    return shown === undefined || shown === line;
  });
}
