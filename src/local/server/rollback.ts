import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Layout, layoutOf } from "../../base/disk/layout.ts";
import { Failure } from "../../base/wire/failure.ts";
import { usersSince } from "../../identity/store/restored.ts";
import { changesSince } from "../../orchestration/store/copy.ts";
import { confirm } from "./confirm.ts";
import { versionOfExecutable } from "./executable.ts";
import { isSameSchema, type Kept, listKept, schemasOf } from "./kept.ts";
import { places, requireRoot, thisMachine } from "./machine.ts";
import { swap } from "./swap.ts";
import { installedRoot, waitOf } from "./upgrade.ts";

export const rollbackUsage = `berth server rollback

usage: berth server rollback [--version VERSION] [-y] [--wait TIME]

Goes back to the executable of before the last upgrade. Where the newer server has changed the
database, the state of that moment comes back too, and everything since is lost; the command says
what, and asks. Needs root.

  --version VERSION  go back to this version; berth server status lists them
  -y, --yes          do not ask
  --wait TIME        until the server must be healthy (20s); otherwise the newer one comes back`;

/** `berth server rollback`. */
export async function rollbackCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { version: { type: "string" }, yes: { type: "boolean", short: "y" }, wait: { type: "string" } },
  });
  const waitMs = waitOf(values.wait);
  requireRoot("berth server rollback");
  const machine = thisMachine;
  const layout = layoutOf(installedRoot(machine));
  const from = { version: await versionOfExecutable(machine, places.executable).catch(() => "an unknown version") };
  const kept = pick(await listKept(layout), values.version, from.version);
  const { version, executable } = kept;
  const backup = isSameSchema(schemasOf(layout), kept.schemas) ? undefined : kept.backup;
  if (backup === undefined) {
    confirm(machine, `go back from ${from.version} to ${version}? The state stays as it is.`, values.yes === true);
  } else {
    const at = new Date(kept.at).toISOString();
    machine.say(`${version} does not know the database of ${from.version}: the state of ${at} comes back`);
    for (const line of lost(layout, kept.at)) machine.note(line);
    confirm(machine, `go back to ${version}, and lose what was done since ${at}?`, values.yes === true);
  }
  await swap({ machine, layout, to: { executable, version }, from, backup, waitMs });
  machine.say(`${version} runs; before: ${from.version}`);
  if (backup !== undefined) {
    machine.note("containers that this state does not know are kept until: berth restore --confirm");
  }
  return 0;
}

function pick(kept: readonly Kept[], wanted: string | undefined, from: string): Kept {
  const others = kept.filter(({ version }) => version !== from);
  const found = wanted === undefined ? others[0] : others.find(({ version }) => version.split(" ")[0] === wanted);
  if (found !== undefined) return found;
  const known = others.map(({ version }) => version).join(", ") || "none";
  throw new Failure(
    "not_found",
    `no ${wanted ?? "earlier executable"} is kept here (kept: ${known}); nothing was changed`,
  );
}

/** What was done since then, a line each. */
function lost({ database, identityDatabase }: Layout, at: number): string[] {
  const changes = changesSince(database, at);
  const users = existsSync(identityDatabase) ? usersSince(identityDatabase, at) : 0;
  const lines = changes.map(({ action, count }) => `lost: ${count} × ${action}`);
  if (users > 0) lines.push(`lost: ${users} users who signed up`);
  return lines.length > 0 ? lines : ["lost: nothing that operators or users did"];
}
