import type { JobRun } from "../api/orchestration/jobs.ts";
import { podLogs } from "../api/orchestration/logs.ts";
import type { Context } from "./command.ts";

/** Output of a run as it comes, try by try. */
export interface RunOutput {
  /** Begins to show the container of the present try, once. */
  follow(run: JobRun): void;
  /** Resolves when all has been shown that comes; tells whether the output of this container was shown to its end. */
  shown(container: string): Promise<boolean>;
}

const newline = "\n".charCodeAt(0);

export function createRunOutput(context: Context): RunOutput {
  const streams = new Map<string, Promise<boolean>>();

  async function stream(container: string): Promise<boolean> {
    const { streams: api, rawTerminal, signal } = context;
    const response = await api.raw(podLogs, { params: { name: container }, query: { follow: "true" }, signal });
    // It may be gone already: its last lines are in the record.
    if (!response.ok) return false;
    const body: AsyncIterable<Uint8Array> | null = response.body;
    let last = newline;
    for await (const chunk of body ?? []) {
      await rawTerminal.stdout(chunk);
      last = chunk.at(-1) ?? last;
    }
    if (last !== newline) await rawTerminal.stdout(Uint8Array.of(newline));
    return true;
  }

  return {
    follow({ container }) {
      // Broken off, by a restart of the server or a reader that left, it is not to its end.
      if (!streams.has(container))
        streams.set(
          container,
          stream(container).catch(() => false),
        );
    },
    async shown(container) {
      const ends = await Promise.all([...streams].map(async ([name, end]) => ({ name, whole: await end })));
      return ends.some(({ name, whole }) => name === container && whole);
    },
  };
}
