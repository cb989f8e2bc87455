import { targetOf } from "../../api/client.ts";
import { execPod } from "../../api/orchestration/exec.ts";
import type { PodRecord } from "../../api/orchestration/pods.ts";
import type { Arguments } from "../arguments.ts";
import type { CommandBody, Context } from "../command.ts";
import { execSession } from "../exec-session.ts";
import { CommandFailure, usageFailure } from "../failures.ts";
import { isReplica } from "../look.ts";
import { containerWord, findPods } from "../pods.ts";

export const execCommand: CommandBody = {
  usage: ["exec SCOPE/NAME[.REPLICA] [-it] [-u USER] [-w DIR] [-e K=V]… -- COMMAND…", "exec SCOPE/NAME[.REPLICA]"],
  detail: [
    "Without COMMAND it is a shell, on a terminal. Where several replicas are meant, the newest that is",
    "ready is taken. Ends with the exit code of COMMAND; when the client goes away, COMMAND is ended too.",
  ],
  flags: [
    { name: "interactive", short: "i", aliases: ["stdin"], summary: "pass stdin on" },
    { name: "tty", short: "t", summary: "give it a terminal" },
    { name: "user", short: "u", value: "USER", summary: "run it as this user, or user:group" },
    { name: "workdir", short: "w", value: "DIR", summary: "run it in this folder" },
    { name: "env", short: "e", value: "KEY=VALUE", repeat: true, summary: "add this variable; may be repeated" },
  ],
  restFromWord: 2,
  async run(context, args) {
    const [reference, ...words] = args.words;
    if (reference === undefined) throw usageFailure("say which pod: exec SCOPE/NAME[.REPLICA] -- COMMAND");
    const plan = planOf(args, words, context);
    // A container's own name needs no look at the others: the server says when it is gone.
    const name = containerWord(reference) ?? (await chosenPod(context, reference));
    const { endpoint, signal, rawTerminal: terminal, headers } = context;
    const size = plan.tty ? terminal.size() : undefined;
    const query = {
      framing: "true",
      tty: plan.tty,
      interactive: plan.interactive,
      user: args.value("user"),
      workdir: args.value("workdir"),
      ...size,
    };
    return execSession({
      ...plan,
      endpoint,
      headers,
      target: targetOf(execPod.path, { params: { name }, query }),
      body: { command: plan.command, env: plan.env },
      terminal,
      signal,
      answerMs: context.limits.answerMs,
    });
  },
};

interface Plan {
  command: string[];
  env: string[];
  tty: boolean;
  interactive: boolean;
}

function planOf(args: Arguments, words: string[], context: Context): Plan {
  const shell = words.length === 0;
  if (shell && !context.terminal.interactive) throw usageFailure("say what to run: exec SCOPE/NAME -- COMMAND");
  const tty = args.on("tty") || (shell && args.value("tty") === undefined);
  const interactive = args.on("interactive") || (shell && args.value("interactive") === undefined);
  if (tty && interactive && !context.rawTerminal.inputIsTerminal) {
    throw usageFailure("-t needs a terminal on stdin: leave it out to pass a file or a pipe");
  }
  const given = args.values("env");
  const bad = given.find((entry) => !/^[^=]+=/.test(entry));
  if (bad !== undefined) throw usageFailure(`--env "${bad}" is not KEY=VALUE`);
  // Later wins, so that what the operator gives comes last.
  const env = [...(tty ? terminalEnv(context) : []), ...given];
  return { command: shell ? ["sh"] : words, env, tty, interactive };
}

function terminalEnv({ variables }: Context): string[] {
  const term = [`TERM=${variables.TERM || "xterm-256color"}`];
  const locale = ["LANG", "LC_ALL"].flatMap((name) => (variables[name] ? [`${name}=${variables[name]}`] : []));
  return [...term, ...locale];
}

/** A pod that the reference names; of several replicas of one resource the newest ready one, with a note. */
async function chosenPod(context: Context, reference: string): Promise<string> {
  const { pods } = await findPods(context.api, reference);
  const replicas = pods.filter(isReplica);
  const running = (replicas.length > 0 ? replicas : pods).filter((pod) => pod.running);
  const resources = new Set(running.map(({ kind, scope, resource_name: name }) => `${kind}/${scope ?? ""}/${name}`));
  if (resources.size > 1) {
    throw usageFailure(`"${reference}" names pods of ${[...resources].join(", ")}: write SCOPE/NAME`);
  }
  const [first, ...others] = running.toSorted(betterFirst);
  if (first !== undefined) {
    if (others.length > 0) context.terminal.note(context.terminal.noteStyle.dim(`in ${first.name}`));
    return first.name;
  }
  if (pods.length === 0) throw new CommandFailure(`no pods of "${reference}"; see: berth get pods`);
  throw new CommandFailure(
    `no pod of "${reference}" runs: ${pods.map((pod) => `${pod.name} is ${pod.state}`).join(", ")}`,
  );
}

function betterFirst(a: PodRecord, b: PodRecord): number {
  const ready = Number(b.ready) - Number(a.ready);
  return ready || (b.created_at ?? "").localeCompare(a.created_at ?? "");
}
