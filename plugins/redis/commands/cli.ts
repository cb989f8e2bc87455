import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { askedPod, tool } from "../../kit/cluster.ts";
import { loadServer } from "../../kit/server.ts";
import { localSession } from "../../kit/session.ts";
import type { Call, Outcome } from "../../kit.ts";
import { redisKind } from "../server.ts";

/** `cli SCOPE/NAME`: on the operator's terminal; words after `--` are one command whose answer comes back as text. */
export async function cli(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["replica"] });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const pod = askedPod(cluster, args.values.replica);
  if (args.rest.length > 0) return { message: await tool(cluster, { pod, args: ["shell", ...args.rest] }) };
  return localSession(pod, ["sh", cluster.kind.script, "shell"]);
}
