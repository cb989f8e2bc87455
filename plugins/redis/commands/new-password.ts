import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { primaryPod, tool } from "../../kit/cluster.ts";
import { newPassword } from "../../kit/secret.ts";
import { linkActions, loadServer, requireLinkedApps } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError } from "../../kit.ts";
import { firstUser, keys, passwordKey } from "../keys.ts";
import { redisKind } from "../server.ts";

/** `new-password SCOPE/NAME`: every pod learns it at once and keeps running; then the apps that are linked as this user. */
export async function newPasswordFor(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["user"] });
  noMoreThan(args.words, 1);
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const user = args.values.user ?? firstUser;
  const key = passwordKey(user);
  if (!cluster.config[key]) throw new PluginError(`the block has no user "${user}"; add it to its users and apply`);
  const down = cluster.pods.filter((pod) => !pod.running).map((pod) => pod.replica_id);
  if (down.length > 0)
    throw new PluginError(`pod ${down.join(", ")} does not run and would not learn it; start it first`);
  await requireLinkedApps(cluster, redisKind, (link) => link.user === user);
  const password = newPassword();
  const epoch = cluster.epoch + 1;
  // The primary first: standbys that connect meanwhile try again.
  const first = primaryPod(cluster);
  for (const pod of [first, ...cluster.pods.filter((each) => each !== first)]) {
    await tool(cluster, { pod, args: ["password", String(epoch), user, key], stdin: `${password}\n` });
  }
  // Not by an action: the next command counts from here.
  await cluster.controller.setConfig(cluster.of, { [key]: password, [keys.epoch]: String(epoch) });
  cluster.config[key] = password;
  const apps = linkActions(cluster, redisKind, (link) => link.user === user);
  return {
    message: `${user} has a new password; ${apps.length} linked app${apps.length === 1 ? "" : "s"} got new URLs`,
    actions: apps,
  };
}
