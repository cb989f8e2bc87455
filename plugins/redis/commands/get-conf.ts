import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { askedPod, tool } from "../../kit/cluster.ts";
import { loadServer } from "../../kit/server.ts";
import type { Call, Outcome } from "../../kit.ts";
import { redisKind } from "../server.ts";

/** What would give a password away. */
const secret = /pass|auth|^user$/;

/** `get-conf SCOPE/NAME`: the settings as the server runs with them. */
export async function getConf(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["replica"] });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const pod = askedPod(cluster, args.values.replica);
  const lines = (await tool(cluster, { pod, args: ["shell", "config", "get", "*"] })).replaceAll("\r", "").split("\n");
  const pairs = lines.flatMap((name, at) => (at % 2 === 0 ? [[name, lines[at + 1] ?? ""] as const] : []));
  const shown = pairs.filter(([name, value]) => value !== "" && !secret.test(name));
  return {
    message: shown
      .map(([name, value]) => `${name} ${value}`)
      .sort()
      .join("\n"),
  };
}
