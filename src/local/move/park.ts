import type { Layout } from "../../base/disk/layout.ts";
import { lockHolder } from "../../base/sqlite/lock.ts";
import { Failure } from "../../base/wire/failure.ts";
import { serverLimits } from "../../config/server-limits.ts";
import type { Engine } from "../../orchestration/engine/engine.ts";
import type { ObservedPod } from "../../orchestration/engine/pod.ts";
import { getJson, record } from "../probe.ts";
import { type MoveRecord, removeMove, writeMove } from "./parked.ts";

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
export async function unpark(layout: Layout): Promise<boolean> {
  await removeMove(layout);
  return answersSoon(layout);
}

export async function answersSoon({ socket }: Pick<Layout, "socket">): Promise<boolean> {
  const answers = () =>
    getJson(`unix://${socket}`, "/system").then(
      () => true,
      () => false,
    );
  return until(serverLimits.healthyMs, answers).then(
    () => true,
    () => false,
  );
}

export async function until(limitMs: number, done: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Failure("timeout", `it took longer than ${Math.round(limitMs / 1_000)} s`);
    await Bun.sleep(100);
  }
}

const running = ["running", "paused", "restarting"];

/** Stops every container of the installation: first those that may use a database, then what keeps data. */
export async function stopContainers(engine: Engine): Promise<number> {
  const all = (await engine.observe()).filter(({ state }) => running.includes(state));
  const keepsData = ({ identity }: ObservedPod) => identity?.key.kind === "statefulset";
  for (const wave of [all.filter((pod) => !keepsData(pod)), all.filter(keepsData)])
    await Promise.all(wave.map((pod) => stop(engine, pod)));
  const left = (await engine.observe()).filter(({ state }) => running.includes(state));
  if (left.length === 0) return all.length;
  throw new Failure("conflict", `containers do not stop: ${left.map(({ name }) => name).join(", ")}`);
}

async function stop(engine: Engine, pod: ObservedPod): Promise<void> {
  const found = await engine.inspect(pod);
  if (found === undefined) return;
  await engine.unpause(pod);
  await engine.stop(pod, { graceMs: found.stopGraceMs });
}

/** `kind/scope/name` of everything that is ready. */
export async function readyApps({ socket }: Pick<Layout, "socket">): Promise<string[]> {
  const { data } = await getJson(`unix://${socket}`, "/apply?status=true");
  const list = Array.isArray(data) ? data.map(record) : [];
  return list.flatMap(({ kind, scope, name, metadata, status }) => {
    const { scope: of, name: named } = { scope, name, ...record(metadata) };
    return record(status).phase === "ready" ? [`${kind}/${of}/${named}`] : [];
  });
}
