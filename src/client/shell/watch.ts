import type { Context } from "./command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";

interface Watching {
  look: () => Promise<Sight>;
  everyMs: number;
}

/** What there is to see now. */
interface Sight {
  text: string;
  /** Changes with what matters, and not with the time: elsewhere than on a terminal it says when to print again. */
  key: string;
}

const home = "\x1b[H";
const clearLine = "\x1b[K";
const clearBelow = "\x1b[J";

/** Looks again and again until Ctrl-C: drawn in place on a terminal, elsewhere printed after each change. */
export async function watch(context: Context, { look, everyMs }: Watching): Promise<number> {
  const { rawTerminal, terminal, clock, signal } = context;
  const onTerminal = rawTerminal.size() !== undefined && !context.json;
  const leave = onTerminal ? rawTerminal.enterScreen() : () => undefined;
  let last: string | undefined;
  try {
    while (!signal.aborted) {
      const { text, key } = await lookOrReason(context, look);
      if (onTerminal) await rawTerminal.stdout(Buffer.from(screen(context, text)));
      else if (key !== last && !signal.aborted) terminal.out(last === undefined ? text : `\n${text}`);
      await terminal.flushed();
      last = key;
      await clock.sleep(everyMs, signal);
    }
  } finally {
    leave();
  }
  return exitCodes.interrupted;
}

/** A server that is away for a moment does not end the watching. */
async function lookOrReason(context: Context, look: Watching["look"]): Promise<Sight> {
  try {
    return await look();
  } catch (error) {
    if (context.signal.aborted) return { text: "", key: "" };
    const isAway = error instanceof CommandFailure && error.exitCode === exitCodes.unreachable;
    if (isAway) return { text: error.message, key: error.message };
    throw error;
  }
}

function screen({ rawTerminal, terminal }: Context, text: string): string {
  const rows = rawTerminal.size()?.rows ?? 24;
  // Past the terminal's own door: names and messages of others are in it.
  const lines = terminal
    .shown(text)
    .split("\n")
    .slice(0, rows - 1);
  return `${home}${lines.map((line) => `${line}${clearLine}\n`).join("")}${clearBelow}`;
}
