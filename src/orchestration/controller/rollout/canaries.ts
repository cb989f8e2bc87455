import { isoTime } from "../../../base/pure/iso-time.ts";
import type { StoredManifest } from "../../api/manifest.ts";
import { formatPercent } from "../../../base/pure/percent.ts";
import { canaryAfter, canaryBegin, canaryLeftMs, canaryText, freshWanted, stepNow } from "../../core/plan/canary.ts";
import { isCurrent, isReady } from "../../core/plan/classify.ts";
import type { CanaryPhase, PlannedPod } from "../../core/plan/pod.ts";
import type { CanaryPolicy, ResolvedWorkload } from "../../core/workload.ts";
import type { CanaryRecord, Transaction } from "../../store/store.ts";
import type { Canaries } from "../state/canaries.ts";
import type { Context } from "../state/context.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";
import { guardedRelease } from "./guard.ts";

/** The time of a step, as this server has seen it pass. */
interface Watch {
  step: string;
  elapsedMs: number;
  /** On the steady clock, when it was last seen in service; undefined while it is not. */
  at: number | undefined;
}

export function createCanaries(contextOf: () => Context): Canaries {
  const watches = new Map<KeyText, Watch>();

  /** The canary release under way, with its steps. */
  function live(workload: ResolvedWorkload): { record: CanaryRecord; policy: CanaryPolicy } | undefined {
    const { canary: policy } = workload.rollout;
    const record = contextOf().store.canaries.get(workload);
    if (policy === undefined || record === undefined) return undefined;
    if (record.mode !== "steps" && record.mode !== "passed") return undefined;
    if (guardedRelease(contextOf(), workload) !== record.releaseId) return undefined;
    return { record: { ...record, elapsedMs: watchOf(record).elapsedMs }, policy };
  }

  function watchOf(record: CanaryRecord): Watch {
    const step = `${record.releaseId}/${record.step}/${record.share}`;
    const known = watches.get(keyText(record));
    if (known?.step === step) return known;
    const watch = { step, elapsedMs: record.elapsedMs, at: undefined };
    watches.set(keyText(record), watch);
    return watch;
  }

  async function pass(workload: ResolvedWorkload, isUp: boolean): Promise<boolean> {
    const found = live(workload);
    if (found === undefined || found.record.mode !== "steps") return false;
    const { record, policy } = found;
    const { store, clock, limits } = contextOf();
    const watch = watchOf(record);
    const now = clock.steady();
    const runs = isUp && !record.isPaused;
    const after = canaryAfter(policy, record, { isUp, ranMs: runs && watch.at !== undefined ? now - watch.at : 0 });
    watch.elapsedMs = after.elapsedMs;
    watch.at = runs ? now : undefined;
    const known = store.canaries.get(workload);
    const next = moved(record, after, { policy, now: clock.now() });
    if (next !== undefined) {
      await store.write((tx) => isSame(tx, known) && put(tx, next, { policy, now: clock.now() }));
      return true;
    }
    if (after.elapsedMs - (known?.elapsedMs ?? 0) >= limits.canarySaveMs) {
      // A server that is killed goes on from here.
      const saved = { ...record, ...after };
      await store.write((tx) => isSame(tx, known) && tx.canaries.put(saved), { durable: false });
    }
    return false;
  }

  return {
    phaseOf(workload) {
      const record = contextOf().store.canaries.get(workload);
      if (record?.mode === "kept") return keptPhase(record, workload, contextOf().clock.now());
      const found = live(workload);
      // Once the last step is over, its replicas stay as they are until that is on record.
      const step = found && (stepNow(found.policy, found.record) ?? found.policy.steps.at(-1));
      if (found === undefined || step === undefined || found.record.mode !== "steps") return undefined;
      const { baseHash } = found.record;
      const text = canaryText(found.policy, found.record);
      return { phase: "step", fresh: freshWanted(step, workload.replicas), baseHash, text };
    },
    follow: (manifest, workload) => follow(contextOf(), manifest, workload),
    advance: (workload, pods) => pass(workload, areUp(workload, pods, live(workload))),
    isWaiting: (workload, pods) => live(workload)?.record.mode === "steps" && areUp(workload, pods, live(workload)),
    isWatched(workload) {
      const record = live(workload)?.record;
      return record !== undefined && (record.mode === "steps" || record.isPromoted);
    },
    lookIn(workload) {
      const { store, clock, limits } = contextOf();
      const record = store.canaries.get(workload);
      if (record?.mode === "kept") return Math.max(0, (record.keptUntil ?? 0) - clock.now());
      const found = live(workload);
      const leftMs = found && canaryLeftMs(found.policy, found.record);
      return leftMs === undefined ? undefined : Math.min(leftMs, limits.canarySaveMs);
    },
    elapsedMs(key) {
      const record = contextOf().store.canaries.get(key);
      return record === undefined ? 0 : watchOf(record).elapsedMs;
    },
    forget: (key) => void watches.delete(keyText(key)),
  };
}

type Live = { record: CanaryRecord; policy: CanaryPolicy } | undefined;

/** Whether the new replicas that the step needs are in service. */
function areUp(workload: ResolvedWorkload, pods: readonly PlannedPod[], found: Live): boolean {
  const step = found && stepNow(found.policy, found.record);
  if (step === undefined) return true;
  const replicas = pods.filter(({ role, frozen }) => role === undefined && !frozen);
  const aside = pods.filter(({ frozen }) => frozen).length;
  const serving = replicas.filter((pod) => isCurrent(pod, workload) && isReady(pod)).length;
  return serving >= Math.min(freshWanted(step, workload.replicas), Math.max(0, workload.replicas - aside));
}

/** Where no replica is wanted, old ones must not take their place. */
function keptPhase(
  { keptUntil = 0, baseHash }: CanaryRecord,
  { replicas }: ResolvedWorkload,
  now: number,
): CanaryPhase {
  return { phase: keptUntil > now && replicas > 0 ? "keep" : "drop", baseHash };
}

/** The record after a look; undefined when only time has passed. */
function moved(
  record: CanaryRecord,
  after: ReturnType<typeof canaryAfter>,
  { policy, now }: { policy: CanaryPolicy; now: number },
): CanaryRecord | undefined {
  const next = { ...record, ...after };
  if (stepNow(policy, after) !== undefined) {
    return after.step === record.step && after.share === record.share ? undefined : next;
  }
  if (policy.keepMs === 0) return { ...next, mode: "passed" };
  return { ...next, mode: "kept", keptUntil: now + policy.keepMs };
}

/** Whether no other command came meanwhile. */
function isSame(tx: Transaction, known: CanaryRecord | undefined): boolean {
  return Bun.deepEquals(tx.canaries.get(known ?? { kind: "", scope: "", name: "" }), known);
}

function put(tx: Transaction, next: CanaryRecord, { policy, now }: { policy: CanaryPolicy; now: number }): void {
  tx.canaries.put(next);
  const { kind, scope, name, releaseId: release, mode, step, share, keptUntil } = next;
  const event = { actor: "reconciler", kind, scope, name };
  if (mode === "kept") {
    const detail = { release, until: isoTime(keptUntil ?? now) };
    tx.events.append({ ...event, action: "rollout.kept", detail }, now);
  } else if (mode === "passed") {
    tx.events.append({ ...event, action: "rollout.passed", detail: { release } }, now);
  } else if (next.elapsedMs === 0 && share === stepNow(policy, next)?.share) {
    const detail = { release, step: step + 1, steps: policy.steps.length, share: formatPercent(share) };
    tx.events.append({ ...event, action: "rollout.step", detail }, now);
  }
}

async function follow(context: Context, manifest: StoredManifest, workload: ResolvedWorkload): Promise<void> {
  const { kind, scope, name } = manifest;
  const { store, clock } = context;
  const record = store.canaries.get(manifest);
  if (record === undefined && workload.rollout.canary === undefined) return;
  const release = guardedRelease(context, workload);
  const { hash, generation, replicas, rollout } = workload;
  if (release !== undefined && rollout.canary !== undefined && record?.releaseId !== release && replicas > 0) {
    const baseHash = baseOf(context, manifest, release);
    const begun: CanaryRecord = {
      ...canaryBegin,
      kind,
      scope,
      name,
      releaseId: release,
      hash,
      generation,
      baseHash,
      mode: "steps",
    };
    await store.write((tx) => tx.canaries.put(begun));
    return;
  }
  if (record === undefined) return;
  if (isOver(context, record, { workload, release })) {
    await store.write((tx) => {
      tx.canaries.remove(record);
      if (record.mode !== "kept") return;
      const detail = { release: record.releaseId };
      tx.events.append({ actor: "reconciler", action: "rollout.keep_ended", kind, scope, name, detail }, clock.now());
    });
    return;
  }
  const isMine = record.mode === "steps" || record.mode === "passed";
  if (isMine && record.generation !== generation) await store.write((tx) => tx.canaries.put({ ...record, generation }));
}

/**
 * What a canary release is compared with and goes back to: the newest good release that has replicas. The newest of all
 * may have none, where one before it was wanted again and did not finish.
 */
function baseOf({ store, pods, departures }: Context, manifest: StoredManifest, release: string): string | undefined {
  const good = store.releases.list(manifest).filter((one) => one.good && one.id !== release);
  const stays = pods.of(manifest).filter(({ role, id }) => role === undefined && !departures.has(id));
  const there = new Set(stays.map(({ hash }) => hash));
  return (good.find(({ hash }) => there.has(hash)) ?? good[0])?.hash;
}

/** Whether nothing depends on the record any more. */
function isOver(
  context: Context,
  record: CanaryRecord,
  { workload, release }: { workload: ResolvedWorkload; release: string | undefined },
): boolean {
  const pods = context.pods.of(workload).filter(({ role }) => role === undefined);
  const isFresh = ({ hash, generation }: { hash: string; generation: number }) =>
    hash === record.hash && generation >= record.generation;
  switch (record.mode) {
    case "withdrawn":
      return workload.hash === record.hash || !pods.some(isFresh);
    case "kept":
      // What is kept is wanted again, or gone.
      if (workload.hash !== record.hash && workload.hash === record.baseHash) return true;
      return (
        (record.keptUntil ?? 0) <= context.clock.now() &&
        !pods.some((pod) => !isFresh(pod) && pod.hash === record.baseHash)
      );
    case "steps":
    case "passed":
      return release !== record.releaseId || workload.rollout.canary === undefined;
  }
}
