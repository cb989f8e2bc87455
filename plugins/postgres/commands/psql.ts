import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { askedPod, tool } from "../../kit/cluster.ts";
import { localSession } from "../../kit/session.ts";
import { loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, usage } from "../../kit.ts";
import { postgresKind } from "../server.ts";

const sqlMs = 55 * 60_000;

/** `psql SCOPE/NAME`: on the operator's terminal; with `-c` the answer comes back as text from wherever the server is. */
export async function psql(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, {
    values: ["database", "user", "replica", "command"],
    short: { d: "database", U: "user", c: "command" },
  });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const pod = askedPod(cluster, args.values.replica);
  const database = args.values.database ?? cluster.env.PG_DATABASE ?? "postgres";
  const { command, user = "" } = args.values;
  if (!/^[a-z0-9_]*$/.test(user)) throw usage(`"${user}" is not a user name`);
  if (command !== undefined) {
    const words = ["sql", user, database, ...args.rest];
    return { message: await tool(cluster, { pod, args: words, stdin: `${command}\n`, timeoutMs: sqlMs }) };
  }
  return localSession(pod, ["sh", cluster.kind.script, "shell", user, database, ...args.rest]);
}
