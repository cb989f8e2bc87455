import { Failure } from "../api/failure.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../api/manifest.ts";
import type { Release } from "../api/orchestration/releases.ts";
import { specHash } from "../core/spec-hash.ts";
import { maskSpec } from "../core/mask.ts";
import { withReplicas } from "../core/plan/target.ts";
import { releaseId } from "../core/release-id.ts";
import type { PutResult, ReleaseRecord, Transaction } from "../store/store.ts";
import type { Context } from "./context.ts";
import type { Target } from "./controller.ts";
import { takeImage } from "./images.ts";
import { rollReaders, watchReaders } from "./referents.ts";
import { isPodKind, resolvePodTarget } from "./target.ts";
import { isoTime } from "./wire.ts";

export interface Minting {
  manifest: StoredManifest;
  cause: ReleaseRecord["cause"];
  rolledBackFrom?: string;
  /** The image to run on, where it is not whatever the reference means. */
  imageId?: string;
  now: number;
}

/**
 * A release for what is stored now; one that was under way is over with it. Part of the transaction that stores the
 * spec, so that neither is ever there without the other.
 */
export function mintRelease(context: Context, tx: Transaction, minting: Minting): ReleaseRecord {
  const { manifest, cause, rolledBackFrom, imageId, now } = minting;
  const { kind, scope, name, spec, revision } = manifest;
  const id = freeReleaseId(context, tx, now);
  for (const earlier of tx.releases.list(manifest)) {
    if (earlier.endedAt !== undefined) continue;
    tx.releases.put({ ...earlier, status: "failed", endedAt: now, error: `superseded by release ${id}` });
  }
  const hasPhase = kind === "deployment" && isObject(spec.release);
  const record: ReleaseRecord = {
    id,
    kind,
    scope,
    name,
    status: hasPhase && cause !== "auto_rollback" ? "pending" : "running",
    cause,
    good: false,
    hash: specHash(kind, spec),
    revision,
    image: typeof spec.image === "string" ? spec.image : "",
    imageId,
    rolledBackFrom,
    startedAt: now,
    endedAt: undefined,
    preExitCode: undefined,
    exitCode: undefined,
    postExitCode: undefined,
    error: undefined,
    spec,
    log: "",
  };
  tx.releases.put(record);
  if (record.status === "running") takeImage(tx, record, now);
  return record;
}

/** Whether what is stored differs from what the newest release is about, or that one failed and is tried again. */
export function needsRelease(tx: Transaction, manifest: StoredManifest, reapplied: boolean): boolean {
  const [latest] = tx.releases.list(manifest);
  if (latest === undefined || latest.hash !== specHash(manifest.kind, manifest.spec)) return true;
  return reapplied && latest.status === "failed";
}

/** A spec that makes other containers than the last one is a release; an identical one tries a failed release again. */
export function releaseFor(context: Context, tx: Transaction, { manifest, outcome }: PutResult, now: number): void {
  if (!isPodKind(manifest.kind) || !needsRelease(tx, manifest, outcome === "unchanged")) return;
  mintRelease(context, tx, { manifest, cause: "apply", now });
  tx.manifests.touch(manifest);
}

/** One that no resource has: several are minted within one second when much is applied at once. */
function freeReleaseId(context: Context, tx: Transaction, now: number): string {
  for (let draw = 0; ; draw++) {
    const aheadMs = draw < drawsAtOnce ? 0 : 1000 * 2 ** (draw - drawsAtOnce);
    const id = releaseId(now + aheadMs, context.randomBytes(2));
    if (tx.releases.get(id) === undefined) return id;
  }
}

/** Past these the ids of this second count as used up, and seconds ahead are tried, ever further. */
const drawsAtOnce = 4;

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

export function wireRelease(record: ReleaseRecord): Release {
  const optional = {
    rolled_back_from: record.rolledBackFrom,
    image: record.image === "" ? undefined : record.image,
    image_id: record.imageId,
    ended_at: record.endedAt === undefined ? undefined : isoTime(record.endedAt),
    pre_exit_code: record.preExitCode,
    exit_code: record.exitCode,
    post_exit_code: record.postExitCode,
    error: record.error,
  };
  const present = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    id: record.id,
    status: record.status,
    cause: record.cause,
    spec_hash: record.hash,
    revision: record.revision,
    started_at: isoTime(record.startedAt),
    spec_snapshot: maskSpec(record.kind, record.spec),
    ...Object.fromEntries(present),
  };
}

/** GET /releases. */
export function listReleases(context: Context, target: Target): { releases: Release[] } {
  const key = releaseTarget(context, target);
  return { releases: context.store.releases.list(key).map(wireRelease) };
}

function releaseTarget(context: Context, target: Target) {
  return resolvePodTarget(context.store.manifests, { ...target, kind: target.kind || "deployment" });
}

/** POST /rollback: supersedes whatever is under way. */
export async function rollback(
  context: Context,
  target: Target & { releaseId: string | undefined },
  { actor }: { actor: string },
) {
  const { kind, scope, name } = releaseTarget(context, target);
  const key = { kind, scope, name };
  const result = await context.store.write((tx) => {
    const stored = tx.manifests.get(key);
    if (stored === undefined) throw new Failure("not_found", `${formatKey(key)} not found`);
    const goal = rollbackGoal(tx, stored, target.releaseId);
    return putBack(context, tx, { stored, goal, cause: "rollback", actor, why: "rollback asked for" });
  });
  context.enqueue(key);
  return { scope, name, kind, rolled_back_to: result.goal, new_release: result.release };
}

function rollbackGoal(tx: Transaction, stored: StoredManifest, id: string | undefined): ReleaseRecord {
  const releases = tx.releases.list(stored);
  if (id) {
    const wanted = releases.find((release) => release.id === id);
    if (wanted === undefined) throw new Failure("not_found", `${formatKey(stored)} has no release "${id}"`);
    if (!wanted.good) throw new Failure("conflict", `release ${id} never became ready; choose one that succeeded`);
    return wanted;
  }
  const present = { hash: specHash(stored.kind, stored.spec), imageId: tx.images.pinOf(stored)?.imageId };
  const goal = lastGoodOther(releases, present);
  if (goal === undefined)
    throw new Failure("conflict", `${formatKey(stored)} has no earlier good release to return to`);
  return goal;
}

/** What an automatic rollback returns to: nothing when what failed had worked before. */
export function lastGoodBefore(releases: readonly ReleaseRecord[], failed: ReleaseRecord): ReleaseRecord | undefined {
  const good = releases.find((release) => release.good && release.id !== failed.id);
  return good === undefined || !isOther(good, failed) ? undefined : good;
}

type Content = Pick<ReleaseRecord, "hash" | "imageId">;

/** The newest good release of another spec, or of the same spec on another image. */
export function lastGoodOther(releases: readonly ReleaseRecord[], present: Content): ReleaseRecord | undefined {
  return releases.find((release) => release.good && isOther(release, present));
}

function isOther(release: Content, { hash, imageId }: Content): boolean {
  if (release.hash !== hash) return true;
  return imageId !== undefined && release.imageId !== undefined && release.imageId !== imageId;
}

export interface PuttingBack {
  stored: StoredManifest;
  goal: ReleaseRecord;
  cause: "rollback" | "auto_rollback";
  actor: string;
  why: string;
}

/** Stores the spec of a past release on its image, keeping today's replica count, and mints the release of it. */
export function putBack(context: Context, tx: Transaction, { stored, goal, cause, actor, why }: PuttingBack) {
  const now = context.clock.now();
  const { kind, scope, name } = stored;
  const spec = withReplicas(goal.spec, stored.spec);
  const watched = watchReaders(tx, [stored]);
  const { manifest } = tx.manifests.put({ kind, scope, name, spec }, now);
  // Nobody may be there to be told that a value goes: its readers wait.
  rollReaders(context, tx, { watched, refuseLoss: false, actor, now });
  const image = goal.imageId === undefined ? {} : { imageId: goal.imageId };
  const record = mintRelease(context, tx, { manifest, cause, rolledBackFrom: goal.id, ...image, now });
  const detail = { to: goal.id, release: record.id, why };
  tx.events.append({ actor, action: "release.rollback", kind, scope, name, revision: manifest.revision, detail }, now);
  return { goal: goal.id, release: record.id };
}

export function latestRelease(context: Context, key: ManifestKey): ReleaseRecord | undefined {
  return context.store.releases.list(key)[0];
}
