import { type CoreKind, formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import type { PlanRow } from "../../api/apply.ts";
import { hostCautions, releaseCaution } from "../../core/cautions.ts";
import { changedPaths } from "../../core/diff.ts";
import { memoryCautions, type Moment, openedPorts, type Serving, servingOf } from "../../core/plan/consequences.ts";
import { canaryPlanText } from "../../core/plan/canary.ts";
import { specHash } from "../../core/spec-hash.ts";
import type { PlannedPod, Step } from "../../core/plan/pod.ts";
import { podOf } from "../../core/spec/decode.ts";
import { planWorkload } from "../../core/plan/workload.ts";
import { containerName } from "../../core/naming.ts";
import type { FindReferenced } from "../../core/references.ts";
import { hiddenDomain, uncertifiedHosts } from "../../core/local-names.ts";
import { notActedUpon } from "../../core/unsupported.ts";
import { notServed } from "./not-served.ts";
import type { PutResult } from "../../store/store.ts";
import { countTakenOver } from "../desired/autoscale.ts";
import type { Context } from "../state/context.ts";
import { plannedPods, planTarget } from "../state/observe.ts";
import { unwatched } from "./unwatched.ts";
import { replicasAwake, resolveStored } from "../desired/resolve.ts";
import { isAsleep, isScaledToSleep } from "../state/sleep-changes.ts";
import { isCopiedBefore } from "../rollout/copy-before.ts";
import { memoryOf } from "../rollout/rollout.ts";
import { isPodKind } from "../state/target.ts";
import { webhookLists } from "../../core/webhooks.ts";
import { isClosedHost } from "../../../base/deliver/address-guard.ts";

type ReplicaRow = PlanRow["replicas"][number];

/** What an apply would do to one resource, down to the replicas. Memory and store only: nothing is asked of the engine. */
export function planRow(
  context: Context,
  result: PutResult,
  findReferenced: FindReferenced,
  noBackup = false,
): PlanRow {
  const { manifest, outcome, previous } = result;
  const changed = previous === undefined ? [] : changedPaths(previous.spec, manifest.spec);
  const { replicas, notes, serving } = isPodKind(manifest.kind)
    ? simulate(context, result, findReferenced)
    : { replicas: [], notes: [], serving: undefined };
  return {
    ref: formatKey(manifest),
    action: outcome === "created" ? "create" : outcome === "updated" ? "update" : "unchanged",
    changed,
    replicas,
    serving,
    notes: [
      ...notes,
      ...notActedUpon(manifest.kind, manifest.spec),
      ...notServed(context, result),
      ...uncertifiedHosts(manifest.kind, manifest.spec),
      ...unwatched(context, result),
      ...cautions(context, result, noBackup),
    ],
  };
}

/** What the operator should think of before saying yes; of no use where nothing changes. */
function cautions(context: Context, { manifest, outcome, previous }: PutResult, noBackup: boolean): string[] {
  if (outcome === "unchanged") return [];
  const { privateWebhooks, store } = context;
  const { kind, spec } = manifest;
  const hooks = privateWebhooks === true ? [] : closedWebhookCautions(kind, spec);
  const [latest] = store.releases.list(manifest);
  // Then this very apply is a release, see `releaseFor`.
  const isReleased = latest?.status === "failed" || latest?.status === "pending";
  const release = isReleased ? [] : releaseCaution(kind, previous?.spec, spec);
  const hidden = outcome === "created" ? hiddenDomain(manifest) : [];
  const isCopied = previous !== undefined && isCopiedBefore(context, manifest, previous);
  const copied = noBackup
    ? "no backup is made before its image changes, as --no-backup says"
    : "a backup is made before its image changes; if that fails, nothing is changed";
  return [
    ...(isCopied ? [copied] : []),
    ...hidden,
    ...hostCautions(kind, spec),
    ...openedPorts(kind, previous?.spec, spec),
    ...release,
    ...hooks,
  ];
}

export function pruneRow(context: Context, key: ManifestKey, why: string): PlanRow {
  const replicas = context.pods
    .of(key)
    .map((pod): ReplicaRow => ({ replica_id: pod.replicaId, action: "remove", why }));
  return { ref: formatKey(key), action: "delete", changed: [], replicas, notes: [] };
}

const simulatedRoundsMax = 4_000;

/** Plays the planner against a model of the pods until it is settled, and notes what it did. */
function simulate(
  context: Context,
  result: PutResult,
  findReferenced: FindReferenced,
): { replicas: ReplicaRow[]; notes: string[]; serving: Serving | undefined } {
  const { manifest } = result;
  const { workload: resolved, problems } = resolveStored(context, manifest, findReferenced);
  const workload = { ...resolved, replicas: replicasAfter(context, result, resolved.replicas) };
  const notes = problems.map(({ path, message }) => `${path}: ${message}`);
  if (workload.rollout.strategyReason !== undefined) {
    notes.push(`strategy ${workload.rollout.strategy}: ${workload.rollout.strategyReason}`);
  }
  const { canary } = workload.rollout;
  if (canary !== undefined && isRelease(result)) notes.push(`canary: ${canaryPlanText(canary)}`);
  const now = context.clock.now();
  const frozenIds = context.store.frozen.list(manifest);
  const { goodReplicas: settledReplicas } = memoryOf(context, manifest);
  // What is held now is given back before any of this happens.
  let pods: PlannedPod[] = plannedPods(context, { key: manifest, workload, now }).map((pod) => ({
    ...pod,
    held: undefined,
  }));
  const steps: Step[] = [];
  const moments = [momentOf(pods)];
  for (let round = 0; round < simulatedRoundsMax; round++) {
    const plan = planWorkload({ workload: planTarget(workload), pods, frozenIds, settledReplicas, now });
    if (plan.steps.length === 0) break;
    steps.push(...plan.steps);
    pods = played(pods, plan.steps, { workload: planTarget(workload), round });
    moments.push(momentOf(pods));
  }
  const limits = { limitBytes: workload.container.memoryBytes, freeBytes: context.freeMemory?.() };
  const replicas = rows(steps);
  const replaced = replicas.filter(({ action }) => action === "replace").length;
  return {
    replicas,
    notes: [...notes, ...memoryCautions(moments, limits)],
    serving: servingOf(moments, replaced),
  };
}

function momentOf(pods: readonly PlannedPod[]): Moment {
  return { ready: pods.filter(({ ready, frozen }) => ready && !frozen).length, all: pods.length };
}

/** A release starts an app that is asleep, see `wakeForRelease`. */
function replicasAfter(context: Context, result: PutResult, now: number): number {
  const { manifest, previous } = result;
  const takenOver = countTakenOver(context.store, result);
  if (takenOver !== undefined || !(isAsleep(context, manifest) || isScaledToSleep(result))) return takenOver ?? now;
  const isStarted = previous === undefined || isRelease(result);
  return isStarted ? replicasAwake(context, manifest, podOf(manifest)?.replicas ?? 0) : 0;
}

/** Whether the containers of something that ran before are recreated. */
function isRelease({ manifest: { kind, spec }, previous }: PutResult): boolean {
  return previous !== undefined && specHash(kind, previous.spec) !== specHash(kind, spec);
}

interface Model {
  workload: ReturnType<typeof planTarget>;
  round: number;
}

/** The pods after the steps went well. */
function played(pods: PlannedPod[], steps: Step[], { workload, round }: Model): PlannedPod[] {
  const gone = new Set(steps.filter((step) => step.type === "remove").map((step) => step.pod.id));
  const touched = new Set(steps.filter((step) => step.type === "start").map((step) => step.pod.id));
  const kept = pods
    .filter((pod) => !gone.has(pod.id))
    .map((pod) => (touched.has(pod.id) ? { ...pod, state: "running" as const, ready: true, runningSince: 0 } : pod))
    .map((pod) => renamed(pod, steps));
  const made = steps.flatMap((step, index) => {
    if (step.type !== "create") return [];
    const replicaId = step.ordinal === undefined ? `new${round}x${index}` : String(step.ordinal);
    return [newPod(workload, replicaId, step.ordinal)];
  });
  return [...kept, ...made];
}

function renamed(pod: PlannedPod, steps: Step[]): PlannedPod {
  const step = steps.find((candidate) => candidate.type === "rename" && candidate.pod.id === pod.id);
  return step?.type === "rename" ? { ...pod, containerName: step.to } : pod;
}

function newPod(workload: Model["workload"], replicaId: string, ordinal: number | undefined): PlannedPod {
  return {
    node: "",
    id: `planned-${replicaId}`,
    containerName: containerName(workload.scope, workload.name, replicaId),
    replicaId,
    ordinal,
    state: "running",
    hash: workload.hash,
    generation: workload.generation,
    ready: true,
    runningSince: 0,
    createdAt: Number.MAX_SAFE_INTEGER,
    exitCode: undefined,
    restarts: 0,
    crashes: { count: 0, since: 0 },
    oomKilled: false,
    frozen: false,
    role: undefined,
    startNotBefore: 0,
  };
}

/** A removed replica and one created for it read as one replacement. */
function rows(steps: Step[]): ReplicaRow[] {
  const removed = steps.filter((step) => step.type === "remove");
  const created = steps.filter((step) => step.type === "create");
  const pairs = Math.min(removed.length, created.length);
  const replaced = removed.slice(0, pairs);
  return [
    ...replaced.map(({ pod, why }): ReplicaRow => ({ replica_id: pod.replicaId, action: "replace", why })),
    ...removed.slice(pairs).map(({ pod, why }): ReplicaRow => ({ replica_id: pod.replicaId, action: "remove", why })),
    ...created.slice(pairs).map(({ ordinal, why }): ReplicaRow => ({
      ...(ordinal === undefined ? {} : { replica_id: String(ordinal) }),
      action: "create",
      why,
    })),
  ];
}

/** Webhooks that will be refused, as far as their URL alone tells: names are resolved only when one is sent. */
export function closedWebhookCautions(kind: CoreKind, spec: Spec): string[] {
  return webhookLists(kind, spec).flatMap(({ path, hooks }) =>
    hooks.flatMap(({ url }) => {
      const host = hostOf(url);
      if (!isClosedHost(host)) return [];
      return [`${path}: "${host}" is not a public address, so nothing is sent; see berth serve --help`];
    }),
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
}
