import type { JobRun } from "../api/orchestration/jobs.ts";
import { podLogs } from "../api/orchestration/logs.ts";
import { createLineTail, lineCharsMax } from "../lib/lines.ts";
import type { Context } from "./command.ts";

/** Output of a run as it comes, try by try. */
export interface RunOutput {
  /** Begins to show the container of the present try, once. */
  follow(run: JobRun): void;
  /**
   * Resolves when all has been shown that comes; tells how much of the output of this container that was: all of it
   * ends with the last line that the server has kept.
   */
  shown(container: string, last: string | undefined): Promise<"all" | "some" | "none">;
}

/** Of a chunk: longer than any line that is kept whole. */
const lastBytesMax = 32 * 1024;
const newline = "\n".charCodeAt(0);

export function createRunOutput(context: Context): RunOutput {
  const streams = new Map<string, Promise<string | undefined>>();

  /** The last line; undefined where the output broke off. */
  async function stream(container: string): Promise<string | undefined> {
    const { streams: api, rawTerminal, signal } = context;
    const response = await api.raw(podLogs, { params: { name: container }, query: { follow: "true" }, signal });
    // It may be gone already: its last lines are in the record.
    if (!response.ok) return undefined;
    const body: AsyncIterable<Uint8Array> | null = response.body;
    const lines = createLineTail(1);
    const decoder = new TextDecoder();
    let last = newline;
    for await (const chunk of body ?? []) {
      await rawTerminal.stdout(chunk);
      last = chunk.at(-1) ?? last;
      // Only its end may become the last line.
      lines.push(decoder.decode(chunk.subarray(-lastBytesMax), { stream: true }));
    }
    if (last !== newline) await rawTerminal.stdout(Uint8Array.of(newline));
    return lines.lines().at(-1) ?? "";
  }

  return {
    follow({ container }) {
      // Broken off, by a restart of the server or a reader that left, it is not to its end.
      if (!streams.has(container))
        streams.set(
          container,
          stream(container).catch(() => undefined),
        );
    },
    async shown(container, last = "") {
      await Promise.all(streams.values());
      const line = await streams.get(container);
      if (line === undefined) return "none";
      return line === last || last.length >= lineCharsMax ? "all" : "some";
    },
  };
}
