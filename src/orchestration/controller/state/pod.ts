import { calmMs } from "../../core/plan/crash.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ContainerState, InspectedPod, ObservedPod, PodIdentity, PodRef } from "../../engine/pod.ts";

/** One container of ours as last seen. */
export interface Pod extends PodRef, PodIdentity {
  name: string;
  image: string;
  imageId: string;
  state: ContainerState;
  status: string;
  /** Published ones, while it runs. */
  ports: InspectedPod["ports"];
  /** Networks that it is connected to, as last listed. */
  joined: readonly string[];
  /** Where it is reached: see `ObservedPod`. Undefined while it does not run, and from a start to the first look after it. */
  address: string | undefined;
  createdAt: number;
  /** Known once inspected: see `inspectStale`. */
  startedAt: number | undefined;
  /** The same on the steady clock; undefined also between an end and the first look after it. */
  upSince: number | undefined;
  /** Was there when this server began to look. */
  inherited: boolean;
  finishedAt: number | undefined;
  exitCode: number | undefined;
  /** What it last died with: the engine forgets that when it starts it again. */
  lastExitCode: number | undefined;
  /** As the engine counts: those by its own policy since it was started by us. */
  restarts: number;
  /** Those that the engine does not count any more: it forgets its own when we start the container again. */
  earlierRestarts: number;
  /** Ends in a row, each before the container had run for a while; since when, on the steady clock. */
  crashes: { count: number; since: number };
  /** Why we ended it the last time, where we did. */
  killedFor: string | undefined;
  /** It was stopped while a volume of it was restored, and has not run since: that is not a death. */
  restored: boolean;
  /** What it said of a process that can never begin. */
  cannotStart: string | undefined;
  oomKilled: boolean;
  error: string;
  /** Epoch ms of the last change of `state`. */
  changedAt: number;
  /** The engine's details are older than the last event about it. */
  stale: boolean;
  /** Number of the last event about it: an answer asked for earlier is older news. */
  eventNumber: number;
}

/** What the engine knows in detail. */
export function fill(pod: Pod, detail: InspectedPod, clock: SteadyClock): void {
  countRestarts(pod, detail, clock);
  pod.state = detail.state;
  if (detail.startedAt === undefined || isDown(detail.state)) {
    // Before it is started again it may wait as long as a calm run takes: that is not a run.
    endOfRun(pod, clock.steady());
    pod.upSince = undefined;
  } else if (detail.startedAt !== pod.startedAt || pod.upSince === undefined) {
    pod.upSince = steadyStart(pod, detail.startedAt, clock);
  }
  pod.startedAt = detail.startedAt;
  pod.finishedAt = detail.finishedAt;
  // A running one has none, and how it ended last is still worth knowing.
  pod.exitCode = detail.exitCode ?? pod.exitCode;
  if (detail.state !== "running") pod.lastExitCode = detail.exitCode ?? pod.lastExitCode;
  pod.oomKilled = detail.oomKilled;
  pod.error = detail.error;
  pod.ports = detail.ports;
  pod.stale = false;
}

const isDown = (state: string) => state === "restarting" || state === "exited" || state === "dead";

/** Crashes of a container that was made longer ago than this, and before we looked, are an unknown time apart. */
const youthMs = 600_000;

function countRestarts(pod: Pod, { restartCount }: InspectedPod, clock: SteadyClock): void {
  const isFirstLook = pod.startedAt === undefined && pod.finishedAt === undefined;
  const forgotten = restartCount < pod.restarts ? pod.restarts : 0;
  const fresh = restartCount - pod.restarts + forgotten;
  pod.earlierRestarts += forgotten;
  pod.restarts = restartCount;
  const isOld = isFirstLook && clock.steady() - pod.crashes.since > youthMs;
  if (isOld) pod.crashes = { count: 0, since: clock.steady() };
  else if (fresh > 0) addCrashes(pod, fresh, clock.steady());
}

/** `now` is of the steady clock. */
export function addCrashes(pod: Pod, count: number, now: number): void {
  endOfRun(pod, now);
  pod.crashes = { ...pod.crashes, count: pod.crashes.count + count };
}

/** The container ended: after a calm while, what comes is another story. */
export function endOfRun(pod: Pod, now: number): void {
  if (pod.upSince !== undefined && now - pod.upSince >= calmMs) pod.crashes = { count: 0, since: now };
}

/** The engine stamps with the clock of the machine, which somebody may have set since. */
function steadyStart({ inherited }: Pod, startedAt: number, clock: SteadyClock): number {
  const ago = clock.now() - startedAt;
  if (ago >= 0) return clock.steady() - ago;
  // Set back: what ran before us has run for an unknown time, anything else started just now.
  return inherited ? 0 : clock.steady();
}

/** Undefined for a container that no resource of ours has. */
export function podOf({ identity, ...container }: ObservedPod, clock: SteadyClock): Pod | undefined {
  if (identity === undefined) return undefined;
  return {
    ...identity,
    node: container.node,
    id: container.id,
    name: container.name,
    image: container.image,
    imageId: container.imageId,
    state: container.state,
    status: container.status,
    ports: [],
    joined: container.joined,
    address: container.address,
    createdAt: container.createdAt,
    startedAt: undefined,
    upSince: undefined,
    inherited: false,
    finishedAt: undefined,
    exitCode: undefined,
    lastExitCode: undefined,
    restarts: 0,
    earlierRestarts: 0,
    crashes: { count: 0, since: clock.steady() - Math.max(0, clock.now() - container.createdAt) },
    killedFor: undefined,
    restored: false,
    cannotStart: undefined,
    oomKilled: false,
    error: "",
    changedAt: clock.now(),
    stale: true,
    eventNumber: 0,
  };
}

/** Stops a pod with the grace that it was made with: its manifest may be gone or say something else by now. A missing pod is fine. */
export async function stopGently(engine: Engine, pod: PodRef): Promise<void> {
  const container = await engine.inspect(pod);
  if (container !== undefined) await engine.stop(pod, { graceMs: container.stopGraceMs });
}
