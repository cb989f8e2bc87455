import type { ErrorData } from "../../base/wire/envelope.ts";
import type { Remote } from "../remote/remotes.ts";
import type { Target } from "../remote/target.ts";
import { remoteText } from "../remote/tunnel-files.ts";
import type { Arguments } from "../basics/arguments.ts";
import type { Command, Context } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import type { Terminal } from "../basics/terminal.ts";

interface GroupRun {
  command: Command;
  args: Arguments;
  terminal: Terminal;
  json: boolean;
  signal: AbortSignal;
  /** What the command gets for one of the remotes. */
  contextOf(target: Target, terminal: Terminal): Context;
  tell(error: unknown): { message: string; exitCode: number; data?: ErrorData };
}

/** Fails with wrong usage where the command works on one server only. */
function requireGroups({ command, args }: GroupRun, { name, remotes }: Extract<Target, { type: "group" }>): void {
  const names = remotes.map((remote) => remote.name).join(", ");
  if (command.groups !== true) {
    throw usageFailure(`"${name}" is a group of remotes (${names}), and ${command.name} works on one: say which`);
  }
  if (args.on("watch") || ["yaml", "name"].includes(args.value("output") ?? "")) {
    throw usageFailure(`"${name}" is a group of remotes (${names}): say which one for -w, -o yaml and -o name`);
  }
}

/** Runs a command that only reads on each remote of a group, one after the other. The first failure is the exit code. */
export async function runOnGroup(run: GroupRun, target: Extract<Target, { type: "group" }>): Promise<number> {
  requireGroups(run, target);
  const { terminal, json, signal } = run;
  const answers: Record<string, unknown> = {};
  const failures: { name: string; message: string; exitCode: number }[] = [];
  for (const [index, remote] of target.remotes.entries()) {
    if (!json) terminal.out(`${index === 0 ? "" : "\n"}${terminal.style.bold(remoteText(remote))}`);
    const { exitCode, message, answer } = await runOnOne(run, remote);
    if (signal.aborted) return exitCodes.interrupted;
    answers[remote.name] = answer;
    if (exitCode !== exitCodes.done) failures.push({ name: remote.name, message, exitCode });
  }
  if (json) terminal.out(JSON.stringify(envelopeOf(answers, failures), null, 2));
  return failures[0]?.exitCode ?? exitCodes.done;
}

async function runOnOne({ command, args, terminal, json, contextOf, tell }: GroupRun, remote: Remote) {
  let printed = "";
  const out = (text: string) => {
    printed += text;
  };
  const own = json ? { ...terminal, out } : terminal;
  try {
    const exitCode = await command.run(contextOf({ type: "remote", remote }, own), args);
    return { exitCode, message: "failed", answer: json && printed !== "" ? JSON.parse(printed) : undefined };
  } catch (error) {
    const { message, exitCode, data } = tell(error);
    if (!json) terminal.note(`${terminal.noteStyle.red("error:")} ${message}`);
    return { exitCode, message, answer: { status: "error", error: message, ...data } };
  }
}

function envelopeOf(remotes: Record<string, unknown>, failures: readonly { name: string; message: string }[]) {
  if (failures.length === 0) return { status: "ok", data: { remotes } };
  return { status: "error", error: failures.map(({ name, message }) => `${name}: ${message}`).join("\n"), remotes };
}
