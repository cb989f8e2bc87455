import { noMoreThan, parseArguments } from "../../kit/arguments.ts";
import { backupId } from "../../kit/backups.ts";
import { primaryPod, tool } from "../../kit/cluster.ts";
import { copyMs, loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, usage } from "../../kit.ts";
import { postgresKind } from "../server.ts";
import { restoreAt } from "./restore-at.ts";
import { restoreInPlace, undoRestore } from "./restore-in-place.ts";

/** How many differences the answer names. */
const differencesShown = 10;

/**
 * What the tool `restore` prints: "TABLES ROWS COMPARED", and a line for each difference. A backup of an older version has
 * nothing to compare but rows, and the tool of an older block compares nothing else.
 */
export function restoredText(said: string): string {
  const [counts = "", ...differences] = said.split("\n");
  const [tables = "0", rows = "0", compared = "rows"] = counts.split(" ");
  const counted = `${tables} tables with ${rows} rows, as in the backup`;
  if (compared !== "all") return `${counted} (it is of an older version, which kept nothing else to compare)`;
  if (differences.length === 0) return `${counted}, and so are its owners, grants and settings`;
  const more = differences.length - differencesShown;
  const shown = differences.slice(0, differencesShown).join("; ");
  return `${counted}, BUT these are not as in the backup: ${shown}${more > 0 ? `; and ${more} more` : ""}`;
}

const databasePattern = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * `restore SCOPE/NAME BACKUP`: always into a database that is not there yet, and its rows are counted before anything
 * else happens. With `--replace` it then takes the name of the one it was made from, which stays under another name.
 */
export async function restore(call: Call): Promise<Outcome> {
  const args = parseArguments(call.args, {
    values: ["database", "into", "at", "as", "image"],
    switches: ["replace", "undo", "reindex", "yes"],
  });
  const { at } = args.values;
  if (args.on.has("undo")) return undoRestore(call, args);
  if (at !== undefined) return args.on.has("replace") ? restoreInPlace(call, args, at) : restoreAt(call, args, at);
  noMoreThan(args.words, 2);
  for (const flag of ["as", "image"].filter((name) => name in args.values)) {
    throw usage(`--${flag} is for a restore --at TIME`);
  }
  const { into } = args.values;
  const replace = args.on.has("replace");
  if ((into === undefined) !== replace) throw usage("say where to: --into NEW, or --replace");
  const cluster = await loadServer(call, postgresKind, args.words[0]);
  const id = backupId(args.words[1]);
  const database = args.values.database ?? cluster.env.PG_DATABASE ?? "";
  const stamp = id.toLowerCase();
  const name = into ?? `restored_${stamp}`;
  if (!databasePattern.test(name))
    throw usage(`"${name}" is not a database name; use lower-case letters, digits and "_"`);
  const pod = primaryPod(cluster);
  const said = await tool(cluster, { pod, args: ["restore", id, database, name], timeoutMs: copyMs, loud: true });
  const checked = restoredText(said);
  if (!replace) return { message: `database ${name} holds ${database} of ${id}: ${checked}` };
  const old = `${database.slice(0, 30)}_before_${new Date()
    .toISOString()
    .replace(/[^0-9]/g, "")
    .slice(0, 14)}`;
  await tool(cluster, { pod, args: ["swap", database, name, old], loud: true });
  return { message: `database ${database} is that of ${id}: ${checked}; what it was before is database ${old}` };
}
