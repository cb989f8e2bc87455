import { containerName } from "../../src/orchestration/core/naming.ts";
import type { PlannedPod, PlanWorkload, Step, WorkloadPlan } from "../../src/orchestration/core/plan/pod.ts";
import { planWorkload } from "../../src/orchestration/core/plan/workload.ts";

/** A container of the model: readiness is derived from the time it has been running. */
export type ModelPod = Omit<PlannedPod, "ready" | "frozen" | "held">;

/** A machine small enough to be obviously right: what the plan asks for happens at once, and time moves by hand. */
export interface World {
  now: number;
  workload: PlanWorkload;
  pods: ModelPod[];
  frozen: Set<string>;
  /** Replica ids that somebody else has in hand, and why. */
  held: Map<string, string>;
  /** Replicas of these specs never become ready. */
  brokenHashes: Set<string>;
  made: number;
}

export function emptyWorld(workload: PlanWorkload): World {
  return { now: 1_000_000, workload, pods: [], frozen: new Set(), held: new Map(), brokenHashes: new Set(), made: 0 };
}

export function observe(world: World): PlannedPod[] {
  return world.pods.map((pod) => ({
    ...pod,
    // What the probes say of it; the plan has to know by itself that a held one does not count.
    ready: isUp(world, pod),
    frozen: world.frozen.has(pod.replicaId),
    held: world.held.get(pod.replicaId),
  }));
}

export function plan(world: World): WorkloadPlan {
  return planWorkload({
    workload: world.workload,
    pods: observe(world),
    frozenIds: [...world.frozen],
    held: world.held,
    now: world.now,
  });
}

export function isReady(world: World, pod: ModelPod): boolean {
  return isUp(world, pod) && !world.held.has(pod.replicaId);
}

function isUp({ now, workload, brokenHashes }: World, pod: ModelPod): boolean {
  const since = pod.runningSince;
  return (
    pod.state === "running" &&
    since !== undefined &&
    now - since >= workload.rollout.minReadyMs &&
    !brokenHashes.has(pod.hash)
  );
}

export function readyCount(world: World): number {
  const ready = world.pods.filter((pod) => !world.frozen.has(pod.replicaId) && isReady(world, pod));
  return new Set(ready.map(({ replicaId }) => replicaId)).size;
}

/** Replicas that take room: all but frozen ones, those on their way out, and stopped ones that never come back. */
export function fleetSize({ pods, frozen, workload }: World): number {
  const stopped = ["created", "exited"];
  const isCurrent = (pod: ModelPod) => pod.hash === workload.hash && pod.generation >= workload.generation;
  const alive = pods.filter(
    (pod) =>
      pod.role === undefined &&
      !frozen.has(pod.replicaId) &&
      pod.state !== "removing" &&
      pod.state !== "dead" &&
      (isCurrent(pod) || !stopped.includes(pod.state)),
  );
  return new Set(alive.map(({ replicaId }) => replicaId)).size;
}

/** Executes one step. What a real engine refuses (a name in use) does nothing, as a failed step would. */
export function execute(world: World, step: Step): void {
  switch (step.type) {
    case "create":
      create(world, step.ordinal);
      return;
    case "start":
      withPod(world, step.pod.id, (pod) => run(world, pod));
      return;
    case "remove":
      world.pods = world.pods.filter(({ id }) => id !== step.pod.id);
      if (step.forgetFrozen) world.frozen.delete(step.pod.replicaId);
      return;
    case "rename":
      if (world.pods.some((pod) => pod.containerName === step.to)) return;
      withPod(world, step.pod.id, (pod) => {
        pod.containerName = step.to;
      });
      return;
  }
}

/** Time passes; removals that the engine was at come to their end. */
export function advance(world: World, ms: number): void {
  world.now += ms;
  world.pods = world.pods.filter(({ state }) => state !== "removing");
}

function create(world: World, ordinal: number | undefined): void {
  world.made += 1;
  const { scope, name, hash, generation } = world.workload;
  const replicaId = ordinal === undefined ? `r${world.made}` : String(ordinal);
  const wantedName = containerName(scope, name, replicaId);
  if (world.pods.some((pod) => pod.containerName === wantedName)) return;
  const pod: ModelPod = {
    node: "local",
    id: `c${world.made}`,
    containerName: wantedName,
    replicaId,
    ordinal,
    state: "created",
    hash,
    generation,
    runningSince: undefined,
    createdAt: world.now,
    exitCode: undefined,
    restarts: 0,
    crashes: { count: 0, since: 0 },
    oomKilled: false,
    role: undefined,
    startNotBefore: 0,
  };
  world.pods.push(pod);
  run(world, pod);
}

function run(world: World, pod: ModelPod): void {
  pod.state = "running";
  pod.runningSince = world.now;
}

function withPod(world: World, id: string, change: (pod: ModelPod) => void): void {
  const pod = world.pods.find((other) => other.id === id);
  if (pod !== undefined) change(pod);
}
