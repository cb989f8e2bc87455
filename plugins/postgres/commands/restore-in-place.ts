import { bringDatabase, planDatabaseRestore } from "../../../src/backups/api/databases.ts";
import { type Arguments, noMoreThan, referenceText } from "../../kit/arguments.ts";
import { type Cluster, primaryPod, tool, tryTool, until } from "../../kit/cluster.ts";
import { newerTool } from "../../kit/backups.ts";
import { apiOf, ordinalOf } from "../../kit/controller.ts";
import { copyMs, loadServer } from "../../kit/server.ts";
import { type Call, type Outcome, usage } from "../../kit.ts";
import { postgresKind } from "../server.ts";
import { asked, requireSameImage, timeOf } from "./restore-at.ts";

/** How long the new primary may take to start, and a standby to follow it, which may copy all of the data. */
const startMs = 10 * 60_000;

/**
 * `restore SCOPE/NAME --at TIME --replace`: the whole server as it was then. A cluster of that time is made beside the one that runs, and
 * takes its place once it is good; what was there is kept. The server is away for the exchange only.
 */
export async function restoreInPlace(call: Call, { words, values, on }: Arguments, time: string): Promise<Outcome> {
  noMoreThan(words, 1);
  for (const flag of ["into", "database", "as", "image"].filter((name) => name in values))
    throw usage(`--${flag} does not go with --at and --replace, which restore the whole server into its place`);
  const cluster = await loadServer(call, postgresKind, words[0]);
  const api = apiOf(call);
  const at = time === "latest" ? undefined : timeOf(time);
  const plan = await asked(() => api.call(planDatabaseRestore, { query: { ...cluster.of, at } }));
  const reindex = on.has("reindex");
  if (!reindex) await requireSameImage(api, cluster, plan);
  const pod = primaryPod(cluster);
  cluster.progress(
    `from the base backup of ${plan.base} and ${plan.segments} segments of WAL; the database goes on meanwhile`,
  );
  const into = referenceText(cluster.of);
  await asked(() => api.call(bringDatabase, { query: { ...cluster.of, into }, body: { at } }));
  const indexes = await newerTool(cluster, {
    pod,
    args: ["restore_beside", ...(reindex ? ["reindex"] : [])],
    timeoutMs: copyMs,
    loud: true,
  });
  await followAgain(cluster);
  const what = plan.at === undefined ? "all that is at the target" : `what was committed by ${plan.at}`;
  const checked = indexes === "" ? "its indexes are in order" : indexes.replaceAll("\n", "; ");
  return { message: `${into} holds ${what}; ${checked}; ${keptText(into)}` };
}

/** `restore SCOPE/NAME --undo`: the data of before the last restore in place comes back. */
export async function undoRestore(call: Call, { words }: Arguments): Promise<Outcome> {
  noMoreThan(words, 1);
  const cluster = await loadServer(call, postgresKind, words[0]);
  await newerTool(cluster, { pod: primaryPod(cluster), args: ["undo_restore"], timeoutMs: copyMs, loud: true });
  await followAgain(cluster);
  const name = referenceText(cluster.of);
  return { message: `${name} holds what it held before its last restore in place; ${keptText(name)}` };
}

const keptText = (name: string) => `what it held until now is kept for 7 days: berth pg:restore ${name} --undo`;

/** The primary starts with the other data; then each standby takes back what that does not have. */
async function followAgain(cluster: Cluster): Promise<void> {
  const pod = primaryPod(cluster);
  await until(`${referenceText(cluster.of)} has started again, which`, startMs, async () => {
    const ready = await tryTool(cluster, { pod, args: ["exchanged"] });
    return ready.exitCode === 0;
  });
  for (const standby of cluster.pods.filter((one) => one.running && ordinalOf(one) !== cluster.primary)) {
    await tool(cluster, { pod: standby, args: ["start_again"] });
    await until(`${standby.name} follows again, which`, copyMs, async () => {
      const ready = await tryTool(cluster, { pod: standby, args: ["exchanged"] });
      return ready.exitCode === 0;
    });
  }
}
