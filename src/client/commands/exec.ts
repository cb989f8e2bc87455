import { targetOf } from "../../base/wire/client.ts";
import { execPod } from "../../orchestration/api/exec.ts";
import { attachFlags, attachmentOf } from "../session/attached.ts";
import type { CommandBody, Context } from "../shell/command.ts";
import { execSession } from "../session/exec-session.ts";
import { choosePod } from "../session/choose-pod.ts";
import { usageFailure } from "../basics/failures.ts";

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
    const name = await choosePod(context, reference);
    const { route, signal, rawTerminal: terminal, headers } = context;
    return execSession({
      ...attachment,
      route,
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
