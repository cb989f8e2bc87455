import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { anyPod, backupId } from "../../kit/backups.ts";
import { tool } from "../../kit/cluster.ts";
import { fileOfPod } from "../../kit/files.ts";
import { loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, PluginError } from "../../kit.ts";
import { postgresKind } from "../server.ts";

/** `backups:download SCOPE/NAME BACKUP`: the dump of one database, for `pg_restore`. */
export async function downloadBackup(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { values: ["database", "to"] });
  noMoreThan(args.words, 2);
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const id = backupId(args.words[1]);
  const database = args.values.database ?? cluster.env.PG_DATABASE ?? "";
  const pod = anyPod(cluster);
  const line = await tool(cluster, { pod, args: ["dump_file", id, database] });
  const [file = "", bytes = ""] = line.split(" ");
  const remote = await fileOfPod(call, pod, file);
  if (remote === undefined) throw new PluginError(`${file} of ${pod.name} lies in no volume that the server can name`);
  const dest = args.values.to ?? `${cluster.of.name}-${database}-${id}.dump`;
  return {
    message: `restore it with: pg_restore -d DATABASE ${dest}`,
    actions: [{ type: "fetch_file", remote_path: remote, dest_path: dest, size_bytes: Number(bytes) }],
  };
}
