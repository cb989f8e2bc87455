import { noMoreThan, parseArguments, wholeNumber } from "../../kit/arguments.ts";
import { podAt, primaryPod, tool } from "../../kit/cluster.ts";
import { localSession } from "../../kit/session.ts";
import { loadServer } from "../../kit/server.ts";
import type { Call, Outcome } from "../../kit.ts";
import { postgresKind } from "../server.ts";

const sqlMs = 55 * 60_000;

/** `psql SCOPE/NAME`: on the operator's terminal; with `-c` the answer comes back as text from wherever the server is. */
export async function psql(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, {
    values: ["database", "replica", "command"],
    short: { d: "database", c: "command" },
  });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const replica = wholeNumber(args.values.replica, "replica");
  const pod = replica === undefined ? primaryPod(cluster) : podAt(cluster, replica);
  const database = args.values.database ?? cluster.env.PG_DATABASE ?? "postgres";
  const { command } = args.values;
  if (command !== undefined) {
    const words = ["sql", database, ...args.rest];
    return { message: await tool(cluster, { pod, args: words, stdin: `${command}\n`, timeoutMs: sqlMs }) };
  }
  return localSession(cluster.of, pod, ["sh", cluster.kind.script, "shell", database, ...args.rest]);
}
