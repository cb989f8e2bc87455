import { targetOf } from "../../base/wire/client.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import { runApp } from "../../orchestration/api/run-app.ts";
import type { Arguments } from "../basics/arguments.ts";
import { attachmentOf } from "./attached.ts";
import type { Context } from "../shell/command.ts";
import { execSession } from "./exec-session.ts";
import { resourceQuery, splitReplica } from "../basics/reference.ts";

/** `run APP -- COMMAND`: a container of its own, attached to this terminal. Answers with the exit code of the command. */
export async function runInOwnContainer(context: Context, args: Arguments): Promise<number> {
  const [text = "", ...command] = args.words;
  const onTerminal = context.terminal.interactive && context.rawTerminal.inputIsTerminal;
  const { env, query, ...attachment } = attachmentOf(args, context, { tty: onTerminal, interactive: true });
  const target = await targetApp(context, text, args.value("kind"));
  const entrypoint = args.value("entrypoint");
  const { route, headers, rawTerminal: terminal, signal, limits } = context;
  return execSession({
    ...attachment,
    route,
    headers,
    target: targetOf(runApp.path, { query: { ...query, ...target } }),
    body: { command, env, ...(entrypoint === undefined ? {} : { entrypoint }) },
    terminal,
    signal,
    answerMs: limits.answerMs,
  });
}

/** `scope/name.0` names a pod of a statefulset, unless an app is called so. */
async function targetApp({ api }: Context, text: string, kindFlag: string | undefined) {
  const { kind, scope, name } = resourceQuery(text, kindFlag);
  const split = splitReplica(name);
  if (split === undefined || !/^\d+$/.test(split.replica)) return { kind, scope, name };
  const found = await api.call(listManifests, { query: { kind, scope, name } });
  return found.length > 0 ? { kind, scope, name } : { kind, scope, name: split.name, ordinal: split.replica };
}
