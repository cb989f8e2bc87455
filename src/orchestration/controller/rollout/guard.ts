import type { ManifestKey } from "../../api/manifest.ts";
import { guardFault } from "../../core/plan/guard.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Context } from "../state/context.ts";
import type { Guards } from "../state/guards.ts";
import { keyOf, type KeyText, keyText } from "../../api/manifest-key.ts";
import type { Pod } from "../state/pod.ts";

/** What is remembered of one guarded release, since containers that are gone have answered requests, too. */
interface Watch {
  release: string;
  /** New replicas that serve, by container: of which start, and since when on the steady clock. */
  serving: Map<string, { run: number | undefined; since: number }>;
  /** Epoch ms, when the first of them began to serve. */
  firstAt: number | undefined;
  /** Containers of the new release, and those that it replaces. */
  fresh: Set<string>;
  old: Set<string>;
}

export function createGuards(contextOf: () => Context): Guards {
  const watches = new Map<KeyText, Watch>();

  function watchOf(workload: ResolvedWorkload): Watch | undefined {
    const release = guardedRelease(contextOf(), workload);
    if (release === undefined) return undefined;
    const text = keyText(workload);
    const known = watches.get(text);
    // Asked until there is an ingress once: it may come with the same apply.
    const isGoing = known?.release === release;
    if (!isGoing && !isLedTo(contextOf(), workload)) return undefined;
    const watch = isGoing ? known : newWatch(release);
    watches.set(text, watch);
    for (const pod of contextOf().pods.of(workload)) {
      if (pod.role === undefined) note(contextOf(), watch, { pod, isNew: isOfRelease(workload, pod) });
    }
    return watch;
  }

  return {
    watchedUntil(workload) {
      const isNeeded = workload.rollout.guard !== undefined && !contextOf().canaries.isWatched(workload);
      const watch = isNeeded ? watchOf(workload) : undefined;
      const overMs = workload.rollout.guard?.overMs ?? 0;
      return (pod) => {
        const since = watch?.serving.get(pod.id)?.since;
        return since === undefined ? undefined : since + overMs;
      };
    },
    fault(workload) {
      const { guard } = workload.rollout;
      const watch = guard === undefined ? undefined : watchOf(workload);
      if (guard === undefined || watch?.firstAt === undefined) return undefined;
      const { firstAt, fresh: freshIds, old: oldIds } = watch;
      const { canaries, clock, trafficOf } = contextOf();
      const to = clock.now();
      const key = keyOf(workload);
      const faultIn = (spanMs: number) => {
        const span = { from: Math.max(firstAt, to - spanMs), to };
        const fresh = trafficOf?.(key, { ...span, containers: freshIds });
        const old = trafficOf?.(key, { ...span, containers: oldIds });
        return fresh === undefined ? undefined : guardFault(guard, { fresh, old });
      };
      // A small share of few visitors takes a whole step until it says something.
      const stepMs = canaries.isWatched(workload) ? canaries.elapsedMs(workload) : 0;
      return faultIn(guard.overMs) ?? (stepMs > guard.overMs ? faultIn(stepMs) : undefined);
    },
    isWatching: (workload) => workload.rollout.guard !== undefined && watchOf(workload) !== undefined,
    forget: (key) => void watches.delete(keyText(key)),
  };
}

/**
 * The release under way, when it has something to return to and is not itself a return: that goes as fast as it can.
 */
export function guardedRelease({ store }: Context, workload: ResolvedWorkload): string | undefined {
  const releases = store.releases.list(keyOf(workload));
  const [latest] = releases;
  if (latest?.status !== "running" || latest.hash !== workload.hash) return undefined;
  if (latest.cause === "rollback" || latest.cause === "auto_rollback") return undefined;
  return releases.some(({ good, id }) => good && id !== latest.id) ? latest.id : undefined;
}

/** Whether an ingress sends requests to the resource, so that there are figures to judge by. */
export function isLedTo({ trafficOf, clock }: Pick<Context, "trafficOf" | "clock">, key: ManifestKey): boolean {
  const now = clock.now();
  return trafficOf?.(keyOf(key), { from: now, to: now }) !== undefined;
}

function newWatch(release: string): Watch {
  return { release, serving: new Map(), firstAt: undefined, fresh: new Set(), old: new Set() };
}

function note(context: Context, watch: Watch, { pod, isNew }: { pod: Pod; isNew: boolean }): void {
  (isNew ? watch.fresh : watch.old).add(pod.id);
  if (!isNew) return;
  const since = servingSince(context, pod);
  if (since === undefined) {
    watch.serving.delete(pod.id);
    return;
  }
  // As first seen: the clock of the machine may be set meanwhile.
  if (watch.serving.get(pod.id)?.run !== pod.startedAt) watch.serving.set(pod.id, { run: pod.startedAt, since });
  watch.firstAt ??= context.clock.now() - (context.clock.steady() - since);
}

/**
 * On the steady clock; undefined while no requests are sent to it. One that served before this server began counts from
 * now on: the figures of before are lost.
 */
function servingSince({ clock, leaving, ports, probes }: Context, pod: Pod): number | undefined {
  if (pod.state !== "running" || pod.upSince === undefined || leaving.has(pod.id)) return undefined;
  const probed = probes.readiness(pod);
  if (probed !== undefined && !probed.ready) return undefined;
  if (!ports.mayServe(pod)) return undefined;
  if (pod.inherited) return clock.steady();
  if (probed === undefined) return ports.openSince(pod) ?? pod.upSince;
  const ago = clock.now() - Date.parse(probed.last_transition ?? "");
  const now = clock.steady();
  return Number.isFinite(ago) ? Math.min(now, Math.max(pod.upSince, now - ago)) : now;
}

/** Whether the replica was made for the release under way. */
export function isOfRelease({ hash, generation }: ResolvedWorkload, pod: Pod): boolean {
  return pod.hash === hash && pod.generation >= generation;
}
