import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { askedPod, tool } from "../../kit/cluster.ts";
import { loadServer } from "../../kit/server.ts";
import type { Call, Outcome } from "../../kit.ts";
import { postgresKind } from "../server.ts";

const query = `select name || ' = ' || quote_literal(current_setting(name)) from pg_settings
  where source not in ('default', 'override', 'client') order by name;`;

/** `get-conf SCOPE/NAME`: the settings that are not the server's own defaults, as it runs with them. */
export async function getConf(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["replica"] });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const pod = askedPod(cluster, args.values.replica);
  return { message: await tool(cluster, { pod, args: ["sql", "", "postgres", "-At", "-q"], stdin: `${query}\n` }) };
}
