import type { Spec } from "../api/manifest.ts";
import type { Probes } from "../api/kinds/probe.ts";
import {
  dueProbes,
  type PodProbes,
  type ProbeTransition,
  probeStep,
  readyOf,
  startProbes,
  wakeAt,
} from "../core/probe.ts";
import { type ProbeName, type ProbesConfig, probeConfig } from "../core/probe-config.ts";
import type { Context } from "./context.ts";
import type { Pod } from "./pod-table.ts";
import { attemptProbe } from "./probe-attempt.ts";
import type { ProbeEngine, ProbeReadiness } from "./probe-engine.ts";

/** One container under probes. */
interface Runner {
  pod: Pod;
  config: ProbesConfig;
  state: PodProbes;
  /** Probes whose attempt is under way. */
  busy: Set<ProbeName>;
  address: string | undefined;
  exchanges: string[];
}

const exchangesKept = 20;
/** Nothing due: whatever changes wakes the loop, this is for tidying. */
const idleMs = 60_000;

export function createProbeEngine(contextOf: () => Context, onTransition: (pod: Pod, change: ProbeTransition) => void) {
  const runners = new Map<string, Runner>();
  /** Containers whose spec has no probes. */
  const without = new Set<string>();
  let wake: () => void = () => undefined;

  function take(pod: Pod): void {
    const known = runners.get(pod.id);
    if (known !== undefined) known.pod = pod;
    if (pod.state !== "running" || pod.startedAt === undefined || without.has(pod.id)) return;
    if (known?.state.startedAt === pod.startedAt) return;
    const config = known?.config ?? probesOf(contextOf(), pod);
    if (Object.keys(config).length === 0) {
      without.add(pod.id);
      return;
    }
    const state = startProbes(config, pod.startedAt, known?.state);
    runners.set(pod.id, { pod, config, state, busy: new Set(), address: undefined, exchanges: known?.exchanges ?? [] });
    wake();
  }

  async function attempt(runner: Runner, probe: ProbeName): Promise<void> {
    const context = contextOf();
    const own = runner.config[probe];
    if (own === undefined || runner.busy.has(probe)) return;
    runner.busy.add(probe);
    const startedAt = runner.state.startedAt;
    runner.address ??= await addressOf(context, runner.pod);
    const { ok, text } = await attemptProbe(context, { id: runner.pod.id, address: runner.address }, own);
    runner.busy.delete(probe);
    // Restarted or gone meanwhile: the answer is about somebody else.
    if (runners.get(runner.pod.id) !== runner || runner.state.startedAt !== startedAt) return;
    conclude(runner, { probe, ok, text, at: context.clock.now() });
  }

  function conclude(runner: Runner, outcome: { probe: ProbeName; ok: boolean; text: string; at: number }): void {
    const line = `${new Date(outcome.at).toISOString()} ${outcome.probe} ${outcome.ok ? "ok" : "failed"}: ${outcome.text}`;
    runner.exchanges = [...runner.exchanges, line].slice(-exchangesKept);
    const before = readyOf(runner.state).ready;
    const { state, transition } = probeStep(runner.state, runner.config, outcome);
    runner.state = state;
    wake();
    if (transition !== undefined) onTransition(runner.pod, transition);
    if (before !== readyOf(state).ready) contextOf().enqueue(runner.pod.key);
  }

  /** Liveness: the same container is started anew; its next start begins the probes again. */
  async function restart(runner: Runner): Promise<void> {
    const context = contextOf();
    const { pod } = runner;
    runner.state = { ...runner.state, restarts: { ...runner.state.restarts, dueAt: undefined } };
    const why = runner.exchanges.findLast((line) => line.includes(" liveness failed")) ?? "liveness probe failed";
    await context.deaths.record(pod, `liveness: ${why}`);
    await context.notes.write((tx) =>
      tx.events.append(
        { actor: "reconciler", action: "replica.restart", ...pod.key, detail: { replica_id: pod.replicaId, why } },
        context.clock.now(),
      ),
    );
    await context.runtime.stop(pod.id, { graceMs: restartGraceMs });
    await context.runtime.start(pod.id);
    context.enqueue(pod.key);
  }

  function look(now: number): number {
    let next = now + idleMs;
    for (const [id, runner] of runners) {
      if (runner.pod.state !== "running") continue;
      if (contextOf().pods.byId(id) === undefined) {
        runners.delete(id);
        continue;
      }
      for (const probe of dueProbes(runner.state, now)) void attempt(runner, probe);
      const dueAt = runner.state.restarts.dueAt;
      if (dueAt !== undefined && dueAt <= now) {
        restart(runner).catch((error) =>
          contextOf().log.warn("liveness restart failed", { pod: runner.pod.name, error }),
        );
      }
      next = Math.min(next, wakeAt(runner.state) ?? next);
    }
    return next;
  }

  const engine: ProbeEngine = {
    watch(pods) {
      for (const pod of pods) if (pod.role === undefined) take(pod);
    },
    readiness(pod) {
      const runner = runners.get(pod.id);
      if (runner === undefined) return without.has(pod.id) ? undefined : pendingOf(contextOf(), pod);
      const ready = readyOf(runner.state);
      const fresh = pod.startedAt === undefined || runner.state.startedAt === pod.startedAt;
      return { ...ready, ready: ready.ready && fresh && pod.state === "running" };
    },
    exchanges: (id) => runners.get(id)?.exchanges ?? [],
    async run(signal) {
      const { clock, pods } = contextOf();
      while (!signal.aborted) {
        const next = look(clock.now());
        const sooner = new AbortController();
        wake = () => sooner.abort();
        await clock.sleep(Math.max(minimumMs, next - clock.now()), AbortSignal.any([signal, sooner.signal]));
        for (const id of without) if (pods.byId(id) === undefined) without.delete(id);
      }
    },
  };
  return engine;
}

const restartGraceMs = 10_000;
const minimumMs = 20;

/** A pod that nobody has taken up yet: ready only when its spec asks for no probes. */
function pendingOf(context: Context, pod: Pod): ProbeReadiness | undefined {
  const config = probesOf(context, pod);
  if (Object.keys(config).length === 0) return undefined;
  return { ready: false, startup_passed: config.startup === undefined, readiness_phase: "unknown" };
}

/** The probes of the spec that the container was made from; of today's when that is not known any more. */
function probesOf(context: Context, pod: Pod): ProbesConfig {
  const release = context.store.releases.list(pod.key).find(({ hash }) => hash === pod.hash);
  const spec: Spec | undefined = release?.spec ?? context.store.manifests.get(pod.key)?.spec;
  return probeConfig(spec?.probes as Probes | undefined);
}

/** On its first network, or loopback where it shares the machine's. Read anew after each start. */
async function addressOf(context: Context, pod: Pod): Promise<string | undefined> {
  const detail = await context.runtime.inspect(pod.id).catch(() => undefined);
  if (detail === undefined) return undefined;
  const platform = detail.networks[context.names.network]?.ipAddress;
  if (platform) return platform;
  if ("host" in detail.networks) return "127.0.0.1";
  return Object.values(detail.networks).find(({ ipAddress }) => ipAddress !== "")?.ipAddress;
}
