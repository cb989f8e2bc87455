import { join } from "node:path";

const checkout = join(import.meta.dir, "../..");

export interface ShellOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs lines of sh after pieces of the plugins' kit, as a pod's script that sources them; `$1`, `$2`… are `args`. */
export async function kitShell(pieces: readonly string[], lines: string, ...args: string[]): Promise<ShellOutcome> {
  const child = startKitShell(pieces, lines, ...args);
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode, stdout, stderr };
}

/** The same while it runs. */
export function startKitShell(pieces: readonly string[], lines: string, ...args: string[]) {
  const sources = pieces.map((piece) => `. "${join(checkout, "plugins/kit", piece)}"`);
  const script = ["set -eu", "block_kind=mq", "owner=nobody-of-that-name", ...sources, lines].join("\n");
  return Bun.spawn(["sh", "-c", script, "sh", ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
}
