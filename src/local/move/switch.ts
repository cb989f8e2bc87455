import { randomBytes } from "node:crypto";
import type { StoredLife } from "../../backups/service/life.ts";
import type { Layout } from "../../base/disk/layout.ts";
import { readLifeFile, writeLifeFile } from "../../base/disk/life-file.ts";
import { lockHolder, takeLock } from "../../base/sqlite/lock.ts";
import { secondsText } from "../../base/pure/duration.ts";
import { Failure } from "../../base/wire/failure.ts";
import { CommandFailure } from "../../client/basics/failures.ts";
import { serverLimits } from "../../config/server-limits.ts";
import type { ListedManifest } from "../../orchestration/api/apply.ts";
import { keyText } from "../../orchestration/api/manifest-key.ts";
import { podKinds } from "../../orchestration/api/manifest.ts";
import type { Engine } from "../../orchestration/engine/engine.ts";
import type { InspectedPod, ObservedPod } from "../../orchestration/engine/pod.ts";
import { getJson } from "../probe.ts";
import { unhealthy } from "../server/health.ts";
import { type Copies, type CopyRoom, peerName } from "./copy.ts";
import { type Here, postDocker, withEngine } from "./here.ts";
import { type MoveRecord, removeMove, thisMover, writeMove } from "../parked.ts";

/**
 * This server stops acting, the rest is copied, and the other machine acts. Until then, this server acts again whatever fails, by
 * itself even if this process is killed: the record names it. Answers with the milliseconds without an app that is ready.
 */
export async function switchOver(room: CopyRoom, copies: Copies, identity: string | undefined): Promise<number> {
  const { here, far, say } = room;
  const { layout, installation, prefix, dockerHost } = here;
  const ready = await readyApps(layout);
  const leaving: MoveRecord = {
    ...{ phase: "leaving", peer: far.shown, at: Date.now(), installation, prefix, dockerHost, identity },
    mover: thisMover(),
  };
  const startedAt = performance.now();
  say("the switch begins");
  const generation = await leave(room, { copies, leaving });
  // From here on, the machine that acts is the other one: an interrupt must not leave it half way.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  try {
    await far.ask("act", { generation });
    await until(serverLimits.movedReadyMs, async () => {
      const there = new Set(await far.ask<string[]>("apps"));
      return ready.every((app) => there.has(app));
    });
    const tookMs = performance.now() - startedAt;
    await far.ask("confirm");
    return tookMs;
  } catch (error) {
    throw await goneBack(room, { ...leaving, generation }, error);
  }
}

interface Leaving {
  copies: Copies;
  leaving: MoveRecord;
}

/** Number of the generation that the other machine has. Nothing acts when this returns. */
async function leave({ here, say }: CopyRoom, { copies, leaving }: Leaving): Promise<number> {
  const { layout } = here;
  let unlock: (() => void) | undefined;
  try {
    await park(layout, leaving);
    unlock = takeLock(layout.lock, layout.root);
    const stopped = await stopContainers(here);
    say(`containers that have stopped: ${stopped}`);
    const startedAt = performance.now();
    await copies.lastPass();
    say(`copied what had changed in ${secondsText(performance.now() - startedAt)}`);
    const generation = nextGeneration(layout);
    await writeMove(layout, { ...leaving, phase: "moved", at: Date.now(), mover: undefined, generation });
    unlock();
    return generation;
  } catch (error) {
    unlock?.();
    const acts = await unpark(layout);
    const now = acts ? "this server acts again" : "this server does not answer: start it with systemctl start berth";
    throw new CommandFailure(`the move failed before the new server acted: ${whyOf(error)}; ${now}`);
  }
}

const whyOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function goneBack(room: CopyRoom, moved: MoveRecord, error: unknown): Promise<CommandFailure> {
  const why = `the new server did not become ready: ${whyOf(error)}`;
  try {
    const acts = await bringBack(room, moved);
    return new CommandFailure(`${why}; ${acts ? "it was stopped, and this server acts again" : notStarted}`);
  } catch (failed) {
    const way = "this server waits. When you can reach the new one: berth move --undo";
    return new CommandFailure(`${why}; and it could not be stopped (${whyOf(failed)}): ${way}`);
  }
}

export const notStarted = "it was stopped; start this server: systemctl start berth";

/** Stops the other server, and then this one acts, as the generation after it. */
export async function bringBack(
  { here: { layout, installation }, far }: Pick<CopyRoom, "here"> & { far: CopyRoom["far"] | undefined },
  { generation = 1 }: MoveRecord,
): Promise<boolean> {
  await far?.ask("back", { peer: await peerName(), installation });
  const life = readLifeFile<StoredLife>(layout);
  // A server that never had a target has none.
  const id = life?.life ?? randomBytes(8).toString("hex");
  await writeLifeFile<StoredLife>(layout, { life: id, number: generation + 1 });
  return unpark(layout);
}

/** Number of the generation after that of a root. */
const nextGeneration = (layout: Layout) => (readLifeFile<StoredLife>(layout)?.number ?? 0) + 1;

/** Until this returns, the server of the root acts no more. Its process goes on, and waits. Containers keep running. */
export async function park(layout: Layout, why: MoveRecord): Promise<void> {
  await writeMove(layout, why);
  const pid = lockHolder(layout.lock);
  if (pid === undefined) return;
  process.kill(pid, "SIGHUP");
  await until(serverLimits.parkMs, async () => lockHolder(layout.lock) === undefined).catch(async (error: unknown) => {
    await removeMove(layout);
    throw error;
  });
}

/** The server acts again. False where no process of it took notice in time: it has to be started. */
async function unpark(layout: Layout): Promise<boolean> {
  await removeMove(layout);
  return answersSoon(layout);
}

export async function answersSoon({ socket }: Pick<Layout, "socket">): Promise<boolean> {
  const expected = { version: undefined, waitMs: serverLimits.healthyMs, engine: false, ingress: false };
  return (await unhealthy(socket, expected)) === undefined;
}

async function until(limitMs: number, done: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Failure("timeout", `it took longer than ${Math.round(limitMs / 1_000)} s`);
    await Bun.sleep(serverLimits.lookMs);
  }
}

const running = ["running", "paused", "restarting"];

/**
 * Stops every container of the installation: first those that may use a database, then what keeps data. A proxy that runs in a
 * container goes on, and answers visitors.
 */
export async function stopContainers(here: Here): Promise<number> {
  return withEngine(here, async (engine) => {
    const look = async () => {
      const pods = (await engine.observe()).filter(({ state }) => running.includes(state));
      const found = (await Promise.all(pods.map((pod) => engine.inspect(pod)))).flatMap((pod) => pod ?? []);
      return found.filter(({ identity, mounts }) => identity ?? mounts.some(({ type }) => type === "volume"));
    };
    const all = await look();
    const keepsData = ({ identity }: ObservedPod) => identity?.key.kind === "statefulset";
    for (const wave of [all.filter((pod) => !keepsData(pod)), all.filter(keepsData)])
      await Promise.all(wave.map((pod) => stop({ here, engine }, pod)));
    const left = await look();
    if (left.length === 0) return all.length;
    throw new Failure("conflict", `containers do not stop: ${left.map(({ name }) => name).join(", ")}`);
  });
}

async function stop({ here, engine }: { here: Here; engine: Engine }, pod: InspectedPod): Promise<void> {
  await engine.unpause(pod);
  await engine.stop(pod, { graceMs: pod.stopGraceMs });
  // With these, Docker would start it again when the machine does. A server that acts again starts it itself.
  if (/^(?:always|on-failure)/.test(pod.restartPolicy))
    await postDocker(here, `/containers/${pod.id}/update`, { RestartPolicy: { Name: "unless-stopped" } });
}

/**
 * `kind/scope/name` of deployments and statefulsets that are ready. An ingress may fail until visitors are led to the new
 * machine.
 */
export async function readyApps({ socket }: Pick<Layout, "socket">): Promise<string[]> {
  const { data } = await getJson(`unix://${socket}`, "/apply?status=true");
  return (data as ListedManifest[]).flatMap((one) =>
    podKinds.some((kind) => kind === one.kind) && one.status?.phase === "ready" ? [keyText(one)] : [],
  );
}
