import { targetOf } from "../../base/wire/client.ts";
import { execPod } from "../../orchestration/api/exec.ts";
import type { PodRecord } from "../../orchestration/api/pods.ts";
import { attachFlags, attachmentOf } from "../session/attached.ts";
import type { CommandBody, Context } from "../shell/command.ts";
import { execSession } from "../session/exec-session.ts";
import { CommandFailure, usageFailure } from "../shell/failures.ts";
import { isReplica } from "../wait/look.ts";
import { containerWord, findPods } from "../wait/pods.ts";

export const execCommand: CommandBody = {
  usage: ["exec SCOPE/NAME[.REPLICA] [-it] [-u USER] [-w DIR] [-e K=V]… -- COMMAND…", "exec SCOPE/NAME[.REPLICA]"],
  examples: [
    "exec shop/web  a shell",
    "exec -it shop/db.0 -- psql  a program on your terminal",
    "exec shop/web -i -- tar x <files.tar  stdin for the program",
  ],
  detail: [
    "Without COMMAND it opens a shell on the terminal. If the name means several replicas, berth takes",
    "the newest one that is ready. Exits with the exit code of COMMAND. When this program goes away, the",
    "server ends COMMAND.",
  ],
  flags: attachFlags,
  restFromWord: 2,
  async run(context, args) {
    const [reference, ...words] = args.words;
    if (reference === undefined) throw usageFailure("say which pod: exec SCOPE/NAME[.REPLICA] -- COMMAND");
    const { command, usual } = commandOf(words, context);
    const { env, query, ...attachment } = attachmentOf(args, context, usual);
    // A container's own name needs no look at the others: the server says when it is gone.
    const name = containerWord(reference) ?? (await chosenPod(context, reference));
    const { endpoint, signal, rawTerminal: terminal, headers } = context;
    return execSession({
      ...attachment,
      endpoint,
      headers,
      target: targetOf(execPod.path, { params: { name }, query }),
      body: { command, env },
      terminal,
      signal,
      answerMs: context.limits.answerMs,
    });
  },
};

/** Without words it is a shell, which needs a terminal. */
function commandOf(words: string[], context: Context) {
  if (words.length > 0) return { command: words, usual: { tty: false, interactive: false } };
  if (!context.terminal.interactive) throw usageFailure("say what to run: exec SCOPE/NAME -- COMMAND");
  return { command: ["sh"], usual: { tty: true, interactive: true } };
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
