import { rm } from "node:fs/promises";
import { Failure } from "../../base/wire/failure.ts";
import type { Layout } from "../../base/disk/layout.ts";
import { serverLimits } from "../../config/server-limits.ts";
import { confirmRestore } from "../../orchestration/store/copy.ts";
import { askIngress, askServer } from "../probe.ts";
import { restoreNow } from "../pending-restore.ts";
import { placeExecutable } from "./executable.ts";
import { type Expected, lastLines, unhealthy } from "./health.ts";
import { isSameSchema, type Kept, keep, schemasOf, trimKept } from "./kept.ts";
import { type Machine, must, places } from "./machine.ts";

interface Swap {
  machine: Machine;
  layout: Layout;
  /** The executable to go to, and its version; likewise the one that is installed. */
  to: { executable: string; version: string };
  from: { version: string };
  /** Copy of an earlier server, to be put back before the executable starts. */
  backup: string | undefined;
  waitMs: number;
}

/**
 * Replaces the executable of the installed server and restarts it, while HAProxy and all containers run on. Goes back to
 * executable and state as they were, and fails `unavailable`, when the new server is not healthy in time.
 */
export async function swap({ machine, layout, to, from, backup, waitMs }: Swap): Promise<void> {
  const expected = await expectedOf(layout, waitMs);
  machine.say(`keeping ${from.version} and the state`);
  const kept = await keep(layout, { executable: places.executable, version: from.version });
  // A connection that breaks now must not leave a machine without its server.
  const unguard = ignoreSignals();
  try {
    machine.say(`starting ${to.version}`);
    const fault = await change(machine, layout, { to, backup }).then(
      () => unhealthy(layout.socket, { ...expected, version: to.version }),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (fault !== undefined) throw await goBack({ machine, layout, kept, expected, fault, failed: to.version });
  } finally {
    unguard();
  }
  await trimKept(layout, serverLimits.upgradesKept);
}

async function expectedOf({ socket }: Layout, waitMs: number): Promise<Expected> {
  const [server, ingress] = [await askServer(socket), await askIngress(socket)];
  return { version: "", waitMs, engine: server?.engineUp === true, ingress: ingress?.state === "running" };
}

async function change(machine: Machine, layout: Layout, { to, backup }: Pick<Swap, "to" | "backup">): Promise<void> {
  await must(machine, ["systemctl", "stop", places.server]);
  if (backup !== undefined) await restoreNow(layout, { file: backup, hold: "removal" });
  await placeExecutable(to.executable, places.executable);
  await must(machine, ["systemctl", "start", places.server]);
}

interface Retreat {
  machine: Machine;
  layout: Layout;
  kept: Kept;
  expected: Expected;
  fault: string;
  failed: string;
}

/** Puts the kept server back. Answers with what to tell the operator. */
async function goBack({ machine, layout, kept, expected, fault, failed }: Retreat): Promise<Failure> {
  const said = (await lastLines(machine, 5)).map((line) => `\n  ${line}`).join("");
  machine.say(`${failed} is not healthy: ${fault}; going back to ${kept.version}`);
  await must(machine, ["systemctl", "stop", places.server]);
  const isChanged = !isSameSchema(schemasOf(layout), kept.schemas);
  if (isChanged && kept.backup !== undefined) {
    await restoreNow(layout, { file: kept.backup, hold: "removal" });
    // The copy is seconds old, and nothing else has written since: nothing waits for the word of an operator.
    confirmRestore(layout.database);
    machine.note(`the state is again as it was at ${new Date(kept.at).toISOString()}`);
  }
  await placeExecutable(kept.executable, places.executable);
  await must(machine, ["systemctl", "start", places.server]);
  const again = await unhealthy(layout.socket, { ...expected, version: kept.version, waitMs: serverLimits.healthyMs });
  const now = again === undefined ? `${kept.version} runs again` : `${kept.version} is not healthy either: ${again}`;
  if (again === undefined) await rm(kept.folder, { recursive: true, force: true });
  const where = again === undefined ? "" : `\nexecutable and state of before are in ${kept.folder}`;
  return new Failure("unavailable", `${failed} is not healthy: ${fault}; ${now}${where}${said}`);
}

const guarded = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function ignoreSignals(): () => void {
  const ignore = () => undefined;
  for (const signal of guarded) process.on(signal, ignore);
  return () => {
    for (const signal of guarded) process.off(signal, ignore);
  };
}
