import { isoTime, spanTimes } from "../../../base/pure/iso-time.ts";
import { parseKeyText } from "../../api/manifest-key.ts";
import type { ManifestKey, StoredManifest } from "../../api/manifest.ts";
import type { PodKindStatus } from "../../api/describe.ts";
import type { Death, FailedRelease, FailedRun, Unready, Why } from "../../api/why.ts";
import { dependenciesOf } from "../../core/dependencies.ts";
import { containerOf, decodeSpec } from "../../core/spec/decode.ts";
import { postFailure, signalOf } from "../../../base/pure/exit-code.ts";
import type { DeathRecord, ReleaseRecord, RunRecord, StoredEvent } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { wireEvent } from "../state/events.ts";
import { lastGoodBefore } from "../rollout/releases.ts";
import { wireRun } from "../runs/run-record.ts";
import { canaryView } from "../rollout/canary-view.ts";
import { statusNow } from "./describe.ts";
import { deathsOf } from "./recent-deaths.ts";
import { subjectOf } from "./why-subject.ts";

const hourMs = 3_600_000;
const linesMax = 100;

/** GET /why. */
export async function why(context: Context, target: Target): Promise<Why> {
  const { store, clock } = context;
  const key = subjectOf(context, target);
  const stored = store.manifests.get(key);
  const status = statusOf(context, key, stored);
  const deaths = await deathsOf(context, key);
  const [death] = deaths;
  const releases = store.releases.list(key);
  const canary = canaryView(context, key);
  const failed = releases.find(
    ({ status, postExitCode }) => status === "failed" || postFailure(postExitCode) !== undefined,
  );
  const [newest] = releases;
  const good = newest && lastGoodBefore(releases, newest);
  const run = store.runs.list(key).find(({ status }) => isFailed(status));
  const inTrouble = status?.phase === "failing" || status?.phase === "failed";
  const past = Math.max(death?.at ?? 0, failed?.endedAt ?? 0, run === undefined ? 0 : endOf(run));
  const at = inTrouble || past === 0 ? clock.now() : past;
  return {
    ...key,
    deleted: stored === undefined,
    at: isoTime(at),
    ...statusPart(status),
    ...builtPart(stored),
    ...servicePart(stored),
    ...frozenPart(context, key),
    unready: await unreadyOf(context, key),
    ...(canary === undefined ? {} : { canary }),
    ...(death === undefined ? {} : { death: wireDeath(death) }),
    deaths: deaths.length,
    ...(failed === undefined ? {} : { failed_release: wireFailed(failed, releases) }),
    ...(good === undefined ? {} : { rollback_to: good.id }),
    ...(run === undefined ? {} : { failed_run: wireFailedRun(run) }),
    events: hourBefore(context, key, at).map(wireEvent),
  };
}

/** For an ingress, how it is served now; while the engine is away, that comes first. */
function statusOf(context: Context, key: ManifestKey, stored: StoredManifest | undefined) {
  const isNow = stored?.kind === "ingress" || !context.link.up();
  const status = isNow && stored !== undefined ? statusNow(context, stored) : context.notes.status(key);
  return (status ?? undefined) as Partial<PodKindStatus> | undefined;
}

function builtPart(stored: StoredManifest | undefined): { built?: boolean } {
  const written = stored === undefined ? undefined : containerOf(stored.kind, stored.spec);
  return written !== undefined && written.container.image === undefined ? { built: true } : {};
}

function servicePart(stored: StoredManifest | undefined): { service?: string } {
  if (stored?.kind !== "ingress") return {};
  return { service: decodeSpec("ingress", stored.spec).service ?? stored.name };
}

/** Skipped and cancelled ones were wanted so. */
function isFailed(status: RunRecord["status"]): boolean {
  return status === "failed" || status === "timed_out" || status === "missed";
}

function endOf({ endedAt, startedAt, instant }: RunRecord): number {
  return endedAt ?? startedAt ?? instant ?? 0;
}

function wireFailedRun(run: RunRecord): FailedRun {
  const signal = signalOf(run.exitCode);
  return { ...wireRun(run), ...(signal === undefined ? {} : { signal }) };
}

const unreadyMax = 3;

async function unreadyOf(context: Context, key: ManifestKey): Promise<Unready[]> {
  const found = context.pods.of(key).flatMap((pod) => {
    const failing = pod.role === undefined ? context.probes.failing(pod) : undefined;
    return failing === undefined ? [] : [{ pod, failing }];
  });
  const longest = found.sort((a, b) => a.failing.since - b.failing.since).slice(0, unreadyMax);
  return Promise.all(
    longest.map(async ({ pod, failing: { probe, check, since, text } }) => {
      const { logs, hint } = await context.deaths.examine(pod, "");
      const { replicaId: replica_id, name: container } = pod;
      const facts = { replica_id, container, probe, check, since: isoTime(since), got: text };
      return { ...facts, logs: logs.slice(-linesMax), ...(hint === undefined ? {} : { hint }) };
    }),
  );
}

function statusPart(status: Partial<PodKindStatus> | undefined) {
  return {
    ...(status?.phase === undefined ? {} : { phase: status.phase }),
    conditions: status?.conditions?.map((condition) => ({ ...condition })) ?? [],
    ...(status?.last_reconcile_error === undefined ? {} : { last_reconcile_error: status.last_reconcile_error }),
    ...(status?.warnings === undefined ? {} : { warnings: [...status.warnings] }),
    ...(status?.next_retry_at === undefined ? {} : { next_retry_at: status.next_retry_at }),
  };
}

function frozenPart({ store }: Context, key: ManifestKey): { frozen_ids?: string[] } {
  const ids = store.frozen.list(key);
  return ids.length === 0 ? {} : { frozen_ids: ids };
}

function wireDeath(death: DeathRecord): Death {
  const signal = signalOf(death.exitCode);
  return {
    replica_id: death.replicaId,
    container_id: death.containerId,
    at: isoTime(death.at),
    ...(death.exitCode === undefined ? {} : { exit_code: death.exitCode }),
    ...(signal === undefined ? {} : { signal }),
    oom_killed: death.oomKilled,
    ...(death.killed === true ? { killed: true } : {}),
    reason: death.reason,
    image: death.image,
    ...(death.releaseId === undefined ? {} : { release_id: death.releaseId }),
    logs: death.logs.slice(-linesMax),
    probes: death.probes,
    ...(death.hint === undefined ? {} : { hint: death.hint }),
  };
}

/** `releases` are newest first. */
function wireFailed(failed: ReleaseRecord, releases: readonly ReleaseRecord[]): FailedRelease {
  const next = releases[releases.indexOf(failed) - 1];
  const back = next?.cause === "auto_rollback" ? next.rolledBackFrom : undefined;
  return {
    id: failed.id,
    cause: failed.cause,
    ...(failed.image === "" ? {} : { image: failed.image }),
    ...spanTimes(failed.startedAt, failed.endedAt),
    error: failed.error ?? postFailure(failed.postExitCode) ?? "no reason is on record",
    ...(failed.reasons === undefined ? {} : { reasons: [...failed.reasons] }),
    ...(failed.preExitCode === undefined ? {} : { pre_exit_code: failed.preExitCode }),
    ...(failed.exitCode === undefined ? {} : { exit_code: failed.exitCode }),
    ...(failed.postExitCode === undefined ? {} : { post_exit_code: failed.postExitCode }),
    output: failed.log.split("\n").filter(Boolean).slice(-linesMax),
    ...(back === undefined ? {} : { rolled_back_to: back }),
  };
}

/** Events of the resource itself, and of what flows into its containers: config of its scope, buckets and assets it reads. */
function hourBefore(context: Context, key: ManifestKey, at: number): StoredEvent[] {
  const { events, manifests } = context.store;
  const limit = context.limits.eventsPageMax;
  const stored = manifests.get(key);
  const read = stored === undefined ? [] : dependenciesOf(stored).map(placeOf);
  const lists = [
    events.list({ scope: key.scope, name: key.name, limit }).filter(({ kind }) => isAbout(kind, key)),
    events.list({ scope: key.scope, limit }).filter(({ name }) => name === undefined),
    ...read.map(({ kind, scope, name }) =>
      events.list({ scope, ...(name === "" ? {} : { name }), limit }).filter((event) => isAt(event, kind, name)),
    ),
  ];
  const unique = new Map(lists.flat().map((event) => [event.seq, event]));
  return [...unique.values()]
    .filter((event) => event.at >= at - hourMs && (event.at <= at || isRemedy(event)))
    .sort((a, b) => a.seq - b.seq)
    .slice(-limit);
}

/** What a plugin did about a death comes after it. */
function isRemedy({ action }: StoredEvent): boolean {
  return action === "plugin.attend";
}

/** Config events carry no kind. */
function isAbout(kind: string | undefined, key: ManifestKey): boolean {
  return kind === undefined || kind === key.kind;
}

/** A dependency as `dependenciesOf` writes it; a bucket without a name is that of the scope. */
function placeOf(dependency: string): ManifestKey {
  return parseKeyText(dependency.replace(/^ref\//, ""));
}

function isAt(event: StoredEvent, kind: string, name: string): boolean {
  return kind === "bucket" ? event.action.startsWith("config.") && (event.name ?? "") === name : event.kind === kind;
}
