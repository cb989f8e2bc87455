import fc from "fast-check";
import type { PlanWorkload } from "../../src/orchestration/core/plan/pod.ts";
import type { ModelPod, World } from "./plan-world.ts";

/** What people and machines do to a workload. `pick` chooses the container, modulo how many there are. */
export type WorldEvent =
  | { type: "scale"; replicas: number }
  | { type: "spec" }
  | { type: "broken spec" }
  | { type: "restart" }
  | { type: "wait"; ms: number }
  | { type: "freeze" | "unfreeze" | "hold" | "let go"; pick: number }
  | { type: "kill" | "remove" | "leave" | "break" | "unstart" | "pause" | "rename" | "swap" | "double"; pick: number };

const pick = fc.nat({ max: 20 });
const replicas = fc.nat({ max: 5 });
const wait = fc.record({ type: fc.constant("wait" as const), ms: fc.constantFrom(100, 1_000, 2_500) });

/** Changes of what is wanted, nothing else. */
export const peacefulEvent: fc.Arbitrary<WorldEvent> = fc.oneof(
  fc.record({ type: fc.constant("scale" as const), replicas }),
  fc.constant({ type: "spec" as const }),
  fc.constant({ type: "broken spec" as const }),
  fc.constant({ type: "restart" as const }),
  wait,
);

export const anyEvent: fc.Arbitrary<WorldEvent> = fc.oneof(
  peacefulEvent,
  fc.record({ type: fc.constantFrom(...(["freeze", "unfreeze", "hold", "let go"] as const)), pick }),
  fc.record({
    type: fc.constantFrom(
      ...(["kill", "remove", "leave", "break", "unstart", "pause", "rename", "swap", "double"] as const),
    ),
    pick,
  }),
);

export const rollouts = fc.record({
  strategy: fc.constantFrom("rolling" as const, "recreate" as const),
  maxSurge: fc.nat({ max: 2 }),
  maxUnavailable: fc.nat({ max: 2 }),
});

export function workloadOf(
  kind: PlanWorkload["kind"],
  count: number,
  rollout: { strategy: "rolling" | "recreate"; maxSurge: number; maxUnavailable: number },
): PlanWorkload {
  return {
    kind,
    scope: "shop",
    name: "web",
    replicas: count,
    hash: "h0",
    generation: 1,
    restart: { name: "unless-stopped", maximumRetryCount: 0 },
    rollout: {
      ...rollout,
      strategyReason: undefined,
      minReadyMs: 2_000,
      progressDeadlineMs: 300_000,
      crashRestarts: 5,
      crashAfterMs: 60_000,
      drainMs: 30_000,
      autoRollback: true,
      guard: undefined,
      canary: undefined,
    },
  };
}

export function happen(world: World, event: WorldEvent): void {
  switch (event.type) {
    case "scale":
      world.workload = { ...world.workload, replicas: event.replicas };
      return;
    case "spec":
      newSpec(world);
      return;
    case "broken spec":
      newSpec(world);
      world.brokenHashes.add(world.workload.hash);
      return;
    case "restart":
      world.workload = { ...world.workload, generation: world.workload.generation + 1 };
      return;
    case "wait":
      world.now += event.ms;
      return;
    case "unfreeze":
      unfreeze(world, event.pick);
      return;
    case "let go":
      letGo(world, event.pick);
      return;
    default:
      befall(world, event.type, event.pick);
      return;
  }
}

function letGo({ held }: World, index: number): void {
  const id = [...held.keys()][index % Math.max(1, held.size)];
  if (id !== undefined) held.delete(id);
}

/** The end of all trouble: the spec works, nothing is paused, nobody holds anything. */
export function calm(world: World): void {
  if (world.brokenHashes.has(world.workload.hash)) newSpec(world);
  world.held.clear();
  for (const pod of world.pods) if (pod.state === "paused") pod.state = "running";
}

function newSpec(world: World): void {
  world.made += 1;
  world.workload = { ...world.workload, hash: `h${world.made}` };
}

/** As the start of a pod does it: the container goes with its mark. */
function unfreeze(world: World, index: number): void {
  const id = [...world.frozen][index % Math.max(1, world.frozen.size)];
  if (id === undefined) return;
  world.frozen.delete(id);
  world.pods = world.pods.filter(({ replicaId }) => replicaId !== id);
}

function befall(world: World, type: WorldEvent["type"], index: number): void {
  const pod = world.pods[index % Math.max(1, world.pods.length)];
  if (pod === undefined || pod.state === "removing") return;
  switch (type) {
    case "freeze":
      world.frozen.add(pod.replicaId);
      stop(pod, 0, 0);
      return;
    case "hold":
      world.held.set(pod.replicaId, "being recreated");
      return;
    case "kill":
      stop(pod, 137, world.now + 1_000);
      return;
    case "remove":
      world.pods = world.pods.filter((other) => other !== pod);
      return;
    case "swap":
      swapNames(pod, world.pods[(index + 1) % world.pods.length] ?? pod);
      return;
    default:
      change(world, pod, type);
      return;
  }
}

function change(world: World, pod: ModelPod, type: WorldEvent["type"]): void {
  world.made += 1;
  if (type === "leave") pod.state = "removing";
  if (type === "break") pod.state = "dead";
  if (type === "unstart") pod.state = "created";
  if (type === "pause" && pod.state === "running") pod.state = "paused";
  if (type === "rename") pod.containerName = `by-hand-${world.made}`;
  if (type === "double") {
    world.pods.push({ ...pod, id: `c${world.made}`, containerName: `copy-${world.made}`, createdAt: world.now });
  }
}

function stop(pod: ModelPod, exitCode: number, startNotBefore: number): void {
  Object.assign(pod, { state: "exited", exitCode, startNotBefore, runningSince: undefined });
}

function swapNames(one: ModelPod, other: ModelPod): void {
  [one.containerName, other.containerName] = [other.containerName, one.containerName];
}
