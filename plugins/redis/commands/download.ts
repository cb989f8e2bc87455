import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { anyPod, backupId } from "../../kit/backups.ts";
import { tool } from "../../kit/cluster.ts";
import { fileOfPod } from "../../kit/files.ts";
import { loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError } from "../../kit.ts";
import { redisKind } from "../server.ts";

/** `backups:download SCOPE/NAME BACKUP`: the dump as Redis itself writes it. */
export async function downloadBackup(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["to"] });
  noMoreThan(args.words, 2);
  const id = backupId(args.words[1]);
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const pod = anyPod(cluster);
  const [file = "", bytes = ""] = (await tool(cluster, { pod, args: ["dump_file", id] })).split(" ");
  const remote = await fileOfPod(call, pod, file);
  if (remote === undefined) throw new PluginError(`${file} of ${pod.name} lies in no volume that the server can name`);
  const dest = args.values.to ?? `${cluster.of.name}-${id}.rdb`;
  const action = { type: "fetch_file" as const, remote_path: remote, dest_path: dest, size_bytes: Number(bytes) };
  return { message: `a server that finds it as dump.rdb in its folder starts with it: ${dest}`, actions: [action] };
}
