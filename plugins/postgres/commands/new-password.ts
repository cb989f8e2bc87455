import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { primaryPod, tool } from "../../kit/cluster.ts";
import { newPassword } from "../../kit/secret.ts";
import { linkActions, loadServer, requireLinkedApps } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError } from "../../kit.ts";
import { passwordKey } from "../keys.ts";
import { postgresKind } from "../server.ts";

/** `new-password SCOPE/NAME`: the server learns it first, then the apps that are linked as this user. */
export async function newPasswordFor(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["user"] });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const first = cluster.env.PG_USER ?? "";
  const user = args.values.user ?? first;
  const key = passwordKey(user, first);
  if (!cluster.config[key]) throw new PluginError(`the block has no user "${user}"; add it to its users and apply`);
  await requireLinkedApps(cluster, postgresKind, (link) => link.user === user);
  const password = newPassword();
  // On standard input: arguments can be read by every process of the machine, and the statement must not be logged.
  const unlogged =
    "set log_statement = 'none'; set log_min_duration_statement = -1; set log_min_error_statement = 'panic';";
  const statement = `${unlogged}\nalter role "${user}" password '${password}';\n`;
  await tool(cluster, { pod: primaryPod(cluster), args: ["sql", "", "postgres"], stdin: statement });
  cluster.config[key] = password;
  const apps = linkActions(cluster, postgresKind, (link) => link.user === user);
  return {
    message: `${user} has a new password; ${apps.length} linked app${apps.length === 1 ? "" : "s"} got new URLs`,
    actions: [{ type: "config_set", ...cluster.of, kv: { [key]: password }, skip_restart: true }, ...apps],
  };
}
