import type { ProbeFigures } from "../../api/pod-measure.ts";
import {
  dueProbes,
  isRestartDue,
  type KnownReadiness,
  type PodProbes,
  type ProbeOutcome,
  probeStep,
  type ProbeTransition,
  readyOf,
  resumeProbes,
  startProbes,
  wakeAt,
} from "../../core/probe.ts";
import { postponedProbe } from "../../core/probe-postponed.ts";
import { checkText, type FailingProbe, failingProbe, failingText } from "../../core/probe-failing.ts";
import type { ProbeName, ProbesConfig } from "../../core/spec/probes.ts";
import type { Context } from "../state/context.ts";
import type { Pod } from "../state/pod.ts";
import { specOf } from "../state/pod-spec.ts";
import { attemptProbe } from "./probe-attempt.ts";
import { linesOf } from "./incidents.ts";
import type { ProbeRoom, ProbeReadiness } from "../state/probe-room.ts";

/** One container under probes. */
interface Runner {
  pod: Pod;
  /** Which start of the container it is about: epoch ms, as the engine tells. */
  run: number;
  config: ProbesConfig;
  state: PodProbes;
  /** Probes whose attempt is under way. */
  busy: Set<ProbeName>;
  address: string | undefined;
  exchanges: string[];
  figures: ProbeFigures;
}

const exchangesKept = 20;
/** Nothing due: whatever changes wakes the loop, this is for tidying. */
const idleMs = 60_000;

/** `onReadiness` is called when a pod may have become ready, or unready, by its probes. */
export function createProbeRoom(
  contextOf: () => Context,
  onTransition: (pod: Pod, change: ProbeTransition) => void,
  onReadiness?: () => void,
) {
  const runners = new Map<string, Runner>();
  /** Containers whose spec has no probes. */
  const without = new Set<string>();
  let wake: () => void = () => undefined;

  function take(pod: Pod): void {
    const known = runners.get(pod.id);
    if (known !== undefined) known.pod = pod;
    const { startedAt: run, upSince } = pod;
    if (pod.state !== "running" || run === undefined || upSince === undefined || without.has(pod.id)) return;
    if (known?.run === run) return;
    const config = known?.config ?? specOf(contextOf(), pod)?.probes;
    // A restored state may not know the app yet: asked again at the next look.
    if (config === undefined) return;
    if (Object.keys(config).length === 0) {
      without.add(pod.id);
      return;
    }
    const earlier = known === undefined ? readinessBefore(contextOf(), pod, run) : undefined;
    const state = earlier ? resumeProbes(config, upSince, earlier) : startProbes(config, upSince, known?.state);
    const exchanges = known?.exchanges ?? [];
    const figures = known?.figures ?? { attempts: 0, failures: 0, tookMs: 0 };
    runners.set(pod.id, { pod, run, config, state, busy: new Set(), address: undefined, exchanges, figures });
    onReadiness?.();
    wake();
  }

  async function attempt(runner: Runner, probe: ProbeName): Promise<void> {
    const context = contextOf();
    const own = runner.config[probe];
    if (own === undefined || runner.busy.has(probe)) return;
    runner.busy.add(probe);
    runner.address ??= await addressOf(context, runner.pod);
    const began = context.clock.steady();
    const outcome = await attemptProbe(context, { pod: runner.pod, address: runner.address }, own);
    const at = context.clock.steady();
    runner.busy.delete(probe);
    if (outcome === undefined) {
      runner.state = postponedProbe(runner.state, runner.config, { probe, at });
      return wake();
    }
    const { ok, text } = outcome;
    const { attempts, failures } = runner.figures;
    runner.figures = { attempts: attempts + 1, failures: failures + (ok ? 0 : 1), tookMs: Math.round(at - began) };
    // Restarted or gone meanwhile: the answer is about somebody else.
    if (runners.get(runner.pod.id) !== runner) return;
    conclude(runner, { probe, ok, text, at, epochAt: context.clock.now() });
  }

  function conclude(runner: Runner, outcome: ProbeOutcome & { epochAt: number }): void {
    const { probe, ok, text, epochAt } = outcome;
    const line = `${new Date(epochAt).toISOString()} ${probe} ${ok ? "ok" : "failed"}: ${text}`;
    runner.exchanges = [...runner.exchanges, line].slice(-exchangesKept);
    const before = readyOf(runner.state).ready;
    const hindered = hindranceKey(runner);
    const { state, transition } = probeStep(runner.state, runner.config, outcome);
    runner.state = state;
    wake();
    if (transition !== undefined) onTransition(runner.pod, transition);
    const isEdge = before !== readyOf(state).ready;
    if (isEdge) onReadiness?.();
    if (isEdge || hindered !== hindranceKey(runner)) contextOf().enqueue(runner.pod.key);
  }

  /** Liveness: the same container is restarted; its next start begins the probes again. */
  async function restart(runner: Runner): Promise<void> {
    const context = contextOf();
    const { pod } = runner;
    runner.state = { ...runner.state, restarts: { ...runner.state.restarts, dueAt: undefined } };
    if (!isOurs(context, pod) || context.progress.held(pod.key).some(([id]) => id === pod.replicaId)) return;
    // Between its stop and its start, nothing else may heal it.
    const release = context.progress.hold(pod.key, pod.replicaId, "being restarted by its liveness probe");
    await killAndStart(context, runner).finally(release);
    context.enqueue(pod.key);
  }

  async function killAndStart(context: Context, runner: Runner): Promise<void> {
    const { pod } = runner;
    const detail = await context.engine.inspect(pod);
    if (detail === undefined) return;
    const { liveness } = runner.state.states;
    const action = runner.config.liveness?.action;
    const why = `liveness probe${action === undefined ? "" : ` (${checkText(action)})`} failed: ${liveness?.text ?? ""}`;
    // Its output as it was before we ended it.
    const draft = await context.deaths.examine({ ...pod, oomKilled: false, error: "" }, `killed: ${why}`);
    await context.engine.stop(pod, { graceMs: detail.stopGraceMs });
    const ended = await context.engine.inspect(pod);
    // It was stopped or deleted meanwhile, and the caller of that knows that it is down.
    if (!isOurs(context, pod)) return;
    await context.engine.start(pod);
    context.pods.healed(pod.id, "killed by its liveness probe");
    await context.deaths.keep({
      ...draft,
      killed: true,
      at: ended?.finishedAt ?? context.clock.now(),
      exitCode: ended?.exitCode,
    });
    const event = { actor: "reconciler", action: "replica.restart", ...pod.key };
    const told = { replica_id: pod.replicaId, why, ...linesOf(draft.logs) };
    await context.notes.write((tx) => tx.events.append({ ...event, detail: told }, context.clock.now()));
  }

  function look(now: number): number {
    let next = now + idleMs;
    for (const [id, runner] of runners) {
      if (contextOf().pods.byId(id) === undefined) runners.delete(id);
      if (!runners.has(id) || runner.pod.state !== "running") continue;
      for (const probe of dueProbes(runner.state, now)) void attempt(runner, probe);
      if (isRestartDue(runner.state, now)) {
        restart(runner).catch((error) =>
          contextOf().log.warn("liveness restart failed", { pod: runner.pod.name, error }),
        );
      }
      next = Math.min(next, wakeAt(runner.state, runner.busy) ?? next);
    }
    return next;
  }

  function failing(pod: Pod): FailingProbe | undefined {
    const runner = runners.get(pod.id);
    if (runner === undefined || pod.state !== "running" || !isOfThisRun(runner, pod)) return undefined;
    return failingProbe(runner.state, runner.config);
  }

  const room: ProbeRoom = {
    watch(pods) {
      for (const pod of pods) if (pod.role === undefined) take(pod);
    },
    readiness(pod) {
      const runner = runners.get(pod.id);
      if (without.has(pod.id) || (runner === undefined && !isProbed(contextOf(), pod))) return undefined;
      if (pod.state !== "running") return downReadiness(contextOf(), pod);
      if (runner === undefined) return pendingOf(contextOf(), pod);
      const ready = readyOf(runner.state);
      // Between a restart of the container and the first look at it, what is known is about the run before.
      return { ...ready, ready: ready.ready && isOfThisRun(runner, pod) };
    },
    answersFor(pod) {
      const { startup, readiness } = runners.get(pod.id)?.config ?? probesOf(contextOf(), pod);
      return startup !== undefined || readiness !== undefined;
    },
    failing,
    hindrance(pod) {
      const found = failing(pod);
      return found && failingText(found);
    },
    exchanges: (id) => runners.get(id)?.exchanges ?? [],
    figures: (id) => runners.get(id)?.figures,
    async run(signal) {
      const { clock, pods } = contextOf();
      while (!signal.aborted) {
        const next = look(clock.steady());
        const sooner = new AbortController();
        wake = () => sooner.abort();
        await clock.sleep(Math.max(minimumMs, next - clock.steady()), AbortSignal.any([signal, sooner.signal]));
        for (const id of without) if (pods.byId(id) === undefined) without.delete(id);
      }
    },
  };
  return room;
}

const minimumMs = 20;

/** Whether it is wanted, and is not being taken down. */
function isOurs({ store, leaving }: Context, { id, key, replicaId }: Pod): boolean {
  const isFrozen = store.frozen.list(key).includes(replicaId);
  return !leaving.has(id) && !isFrozen && store.manifests.get(key) !== undefined;
}

/** Changes when what keeps the pod from being ready does; not with every word of an app. */
function hindranceKey({ state, config }: Runner): string | undefined {
  const found = failingProbe(state, config);
  return found && `${found.probe} ${found.since} ${found.text.replace(/:.*$/s, "")}`;
}

function isOfThisRun({ run }: Runner, { upSince, startedAt }: Pod): boolean {
  return upSince !== undefined && run === startedAt;
}

function isProbed(context: Context, pod: Pod): boolean {
  return Object.keys(probesOf(context, pod)).length > 0;
}

/** Whatever its probes said last: nothing answers there. */
function downReadiness(context: Context, pod: Pod): ProbeReadiness {
  const { state, changedAt } = pod;
  const { startup, readiness } = probesOf(context, pod);
  return {
    ready: false,
    startup_passed: startup === undefined,
    ...(readiness === undefined ? {} : { readiness_phase: "unknown" }),
    reason: `the container is ${state}`,
    last_transition: new Date(changedAt).toISOString(),
  };
}

/**
 * A pod that is not followed yet. Right after a start of the server these are all: until each was looked at, what the
 * server before has written down of the same container counts.
 */
function pendingOf(context: Context, pod: Pod): ProbeReadiness {
  const config = probesOf(context, pod);
  const before = readinessBefore(context, pod, pod.startedAt ?? pod.createdAt);
  const state = before && resumeProbes(config, context.clock.steady(), before);
  if (state !== undefined) return readyOf(state);
  return { ready: false, startup_passed: config.startup === undefined, readiness_phase: "unknown" };
}

/**
 * What the server before this one had written down about the same run of the container: a restart of the server takes
 * no pod out of service.
 */
function readinessBefore({ store }: Context, pod: Pod, run: number): KnownReadiness | undefined {
  const known = store.probeReadiness.list(pod.key).find(({ pod: name }) => name === pod.name);
  return known !== undefined && known.transitionAt >= run ? known : undefined;
}

/** The probes of the spec that the container was made from; of today's when that is not known any more. */
function probesOf(context: Context, pod: Pod): ProbesConfig {
  return specOf(context, pod)?.probes ?? {};
}

/** On its first network, or loopback where it shares the machine's. Read again after each start. */
async function addressOf(context: Context, pod: Pod): Promise<string | undefined> {
  const detail = await context.engine.inspect(pod).catch(() => undefined);
  if (detail === undefined) return undefined;
  return detail.address ?? Object.values(detail.addresses)[0];
}
