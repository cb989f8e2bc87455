import type { Context } from "../shell/command.ts";
import { createLinePrefix } from "../basics/line-prefix.ts";
import { readRelease } from "./release-stream.ts";
import { printable } from "../basics/style.ts";
import type { Waited } from "../facts/wait.ts";

/** Shows what release commands print while they are waited for: a line each on stderr, behind the name of the resource. */
interface PhaseOutput {
  round(round: readonly Waited[]): void;
  /** Shows nothing more. */
  end(): Promise<void>;
}

export function createPhaseOutput(context: Context): PhaseOutput {
  const stopping = new AbortController();
  const shown = new Map<string, Promise<void>>();
  return {
    round(round) {
      for (const { ref, look } of round) {
        const { releasing } = look;
        if (releasing !== undefined && !shown.has(releasing)) shown.set(releasing, show(context, ref, stopping.signal));
      }
    },
    async end() {
      stopping.abort();
      await Promise.all(shown.values());
    },
  };
}

async function show(context: Context, ref: string, signal: AbortSignal): Promise<void> {
  const [, scope, name = ""] = ref.split("/");
  const { note, noteStyle } = context.terminal;
  const lines = createLinePrefix((line) => {
    note(`${noteStyle.dim(`${ref} |`)} ${printable(Buffer.from(line).toString())}`);
    return line;
  });
  // The wait goes on without the output; the wait itself says what is wrong with the server.
  const onBytes = (bytes: Uint8Array) => void lines.push(bytes);
  await readRelease(context, { scope, name, follow: true, signal, onBytes }).catch(() => undefined);
  lines.end();
}
