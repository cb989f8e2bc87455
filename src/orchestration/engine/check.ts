import type { Checked, ExecSession, ExecSpec } from "./session.ts";

/** Characters of what a check prints; the rest is dropped. */
export const checkCharsMax = 200;

/** A check as a command of its own. Rejects when `signal` aborts, and ends the command then. */
export async function checkByExec(
  exec: (spec: ExecSpec) => Promise<ExecSession>,
  command: string[],
  signal: AbortSignal,
): Promise<Checked> {
  const session = await exec({ command, env: [], tty: false, interactive: false });
  signal.addEventListener("abort", () => void session.kill().catch(() => undefined), { once: true });
  if (signal.aborted) void session.kill().catch(() => undefined);
  const decoder = new TextDecoder();
  let output = "";
  for await (const { bytes } of session.output) {
    if (output.length < checkCharsMax) output += decoder.decode(bytes, { stream: true });
  }
  const exitCode = await session.exitCode();
  signal.throwIfAborted();
  return { exitCode, output: output.trim().slice(0, checkCharsMax) };
}
