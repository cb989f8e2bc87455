import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { backupId } from "../../kit/backups.ts";
import { primaryPod, tool } from "../../kit/cluster.ts";
import { copyMs, loadServer } from "../../kit/server.ts";
import type { Call, Outcome } from "../../kit.ts";
import { redisKind } from "../server.ts";

/** `restore SCOPE/NAME BACKUP`: its keys take the place of those there are, which are backed up first. */
export async function restore(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, { switches: ["yes"] });
  noMoreThan(args.words, 2);
  const id = backupId(args.words[1]);
  const cluster = await loadServer(call, redisKind, args.words[0]);
  const line = await tool(cluster, { pod: primaryPod(cluster), args: ["restore", id], timeoutMs: copyMs, loud: true });
  const [counts = "", ...missing] = line.split("\n");
  const [counted = "0", before = ""] = counts.split(" ");
  // Users and settings are the block's, and no backup holds their passwords.
  const lacks =
    missing.length === 0
      ? ""
      : `; users of then that the server does not have now, add them to the block: ${missing.join(", ")}`;
  return { message: `${counted} keys are those of ${id}${lacks}; what was there before is backup ${before}` };
}
