import type { Principal } from "../../../access/principal.ts";
import { spanTimes } from "../../../base/pure/iso-time.ts";
import { hasLesserRights } from "../state/authority.ts";
import { builtImage } from "../../core/build/built-image.ts";
import { formatKey, type ManifestKey, type Spec, type StoredManifest } from "../../api/manifest.ts";
import type { Release } from "../../api/releases.ts";
import { canonicalJson } from "../../../base/pure/digest.ts";
import { podOf } from "../../core/spec/decode.ts";
import type { Author } from "../../core/deploy-message.ts";
import { changedPaths } from "../../core/diff.ts";
import { specHash } from "../../core/spec-hash.ts";
import { maskSpec } from "../../core/mask.ts";
import { releaseId } from "../../core/release-id.ts";
import type { PutResult, ReleaseRecord, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { canaryView } from "./canary-view.ts";
import { endCanary } from "./canary-end.ts";
import { imageIdOf, takeImage } from "../desired/images.ts";
import { wakeForRelease } from "../state/sleep-changes.ts";
import { isPodKind, resolvePodTarget } from "../state/target.ts";
import { hindranceOf } from "../../core/plan/crash.ts";

interface ReleaseAuthor extends Author {
  by?: Principal | undefined;
}

interface Minting {
  manifest: StoredManifest;
  cause: ReleaseRecord["cause"];
  rolledBackFrom?: string;
  /** Paths of the fields that a rollback changed back. */
  takenBack?: string[];
  /** The image to run on, where it is not whatever the reference means. */
  imageId?: string;
  /** Who asked for it: without a principal it may do the least. Left out, it is the server. */
  author?: ReleaseAuthor | undefined;
  now: number;
}

/**
 * A release for what is stored now; one that was under way is over with it. Part of the transaction that stores the
 * spec, so that neither is ever there without the other.
 */
export function mintRelease(context: Context, tx: Transaction, minting: Minting): ReleaseRecord {
  const { manifest, cause, rolledBackFrom, takenBack = [], imageId, author, now } = minting;
  const { kind, scope, name, spec, revision } = manifest;
  const id = freeReleaseId(context, tx, now);
  endCanary(tx, manifest, now);
  for (const earlier of tx.releases.list(manifest)) {
    if (earlier.endedAt !== undefined) continue;
    const error = supersededText(context, earlier, id);
    tx.releases.put({ ...earlier, status: "failed", endedAt: now, error, reasons: ["Superseded"] });
  }
  const pod = podOf(manifest);
  const hasPhase = kind === "deployment" && pod?.release !== undefined;
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
    image: pod?.image ?? "",
    imageId,
    rolledBackFrom,
    takenBack,
    startedAt: now,
    endedAt: undefined,
    preExitCode: undefined,
    exitCode: undefined,
    postExitCode: undefined,
    error: undefined,
    spec,
    log: "",
    ...(author === undefined ? {} : { actor: author.actor }),
    ...(author !== undefined && hasLesserRights(author.by) ? { lesser: true } : {}),
    ...(author?.message === undefined ? {} : { message: author.message }),
  };
  tx.releases.put(record);
  wakeForRelease(tx, manifest, { id, now });
  if (record.status === "running") takeImage(tx, record, now);
  return record;
}

/** Whether what is stored makes other containers than the newest release. */
export function needsRelease(tx: Transaction, manifest: StoredManifest): boolean {
  const [latest] = tx.releases.list(manifest);
  return latest === undefined || latest.hash !== specHash(manifest.kind, manifest.spec);
}

/**
 * A spec that makes other containers than the last one is a release. So is any apply after a failed release, which it
 * tries again, and one that corrects the commands of a release that still waits for them.
 */
export function releaseFor(
  context: Context,
  tx: Transaction,
  { manifest, previous }: PutResult,
  { now, goingBack, author }: { now: number; goingBack?: GoingBack | undefined; author?: ReleaseAuthor },
): void {
  if (!isPodKind(manifest.kind)) return;
  const releases = tx.releases.list(manifest);
  const [latest] = releases;
  const imageId = goingBack?.imageIds.get(formatKey(manifest));
  const again = latest !== undefined && (latest.status === "failed" || correctsCommands(latest, manifest.spec));
  const present = imageIdOf(tx, manifest, specHash(manifest.kind, manifest.spec)) ?? latest?.imageId;
  const otherImage = imageId !== undefined && present !== imageId;
  if (!again && !otherImage && !needsRelease(tx, manifest)) return;
  const image = imageId === undefined ? {} : { imageId };
  const from = goingBack === undefined ? undefined : wayBack(releases, { manifest, previous, imageId });
  mintRelease(context, tx, { manifest, cause: from ? "auto_rollback" : "apply", ...from, ...image, author, now });
  tx.manifests.touch(manifest);
}

interface WayBack {
  manifest: StoredManifest;
  /** What was stored until now. */
  previous: StoredManifest | undefined;
  imageId: string | undefined;
}

/** Which release is gone back to, where it is on record, and what that changes. */
function wayBack(releases: readonly ReleaseRecord[], { manifest, previous, imageId }: WayBack) {
  const hash = specHash(manifest.kind, manifest.spec);
  const goal = releases.find((release) => release.good && !isOther(release, { hash, imageId }));
  const takenBack = previous === undefined ? [] : changedPaths(previous.spec, manifest.spec).slice(0, pathsKept);
  return { takenBack, ...(goal === undefined ? {} : { rolledBackFrom: goal.id }) };
}

/** Enough to see what going back is about. */
export const pathsKept = 50;

/** An apply is undone: nothing new is released, so no release commands run. */
export interface GoingBack {
  /** The images that ran before, by `formatKey`. */
  imageIds: ReadonlyMap<string, string>;
}

function correctsCommands({ status, spec }: ReleaseRecord, { release }: Spec): boolean {
  return status === "pending" && canonicalJson(spec.release ?? null) !== canonicalJson(release ?? null);
}

/** One that no resource has: several are minted within one second when much is applied at once. */
function freeReleaseId(context: Context, tx: Transaction, now: number): string {
  for (let draw = 0; ; draw++) {
    const aheadMs = draw < drawsAtOnce ? 0 : 1000 * 2 ** (draw - drawsAtOnce);
    const id = releaseId(now + aheadMs, context.randomBytes(2));
    if (!tx.releases.isTaken(id)) return id;
  }
}

/** Past these the ids of this second count as used up, and seconds ahead are tried, ever further. */
const drawsAtOnce = 4;

export function wireRelease({ store }: Context, record: ReleaseRecord): Release {
  const { scope, name } = record;
  const buildId = podOf(record)?.buildId;
  const ofBuild = buildId === undefined ? undefined : builtImage(scope, name, { buildId });
  const optional = {
    rolled_back_from: record.rolledBackFrom,
    taken_back: record.takenBack.length === 0 ? undefined : record.takenBack,
    image: record.image === "" ? ofBuild : record.image,
    image_id: record.imageId,
    pre_exit_code: record.preExitCode,
    exit_code: record.exitCode,
    post_exit_code: record.postExitCode,
    error: record.error,
    receipt: record.endedAt === undefined ? undefined : store.receipts.get(record.id),
    reasons: record.reasons,
    actor: record.actor,
    message: record.message,
    build_id: buildId,
  };
  const present = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    id: record.id,
    status: record.status,
    cause: record.cause,
    spec_hash: record.hash,
    revision: record.revision,
    ...spanTimes(record.startedAt, record.endedAt),
    spec_snapshot: maskSpec(record.kind, record.spec),
    ...Object.fromEntries(present),
  };
}

/** GET /releases. */
export function listReleases(context: Context, target: Target): { releases: Release[] } {
  const key = releaseTarget(context, target);
  const canary = canaryView(context, key);
  const withCanary = (release: Release) => (canary?.release === release.id ? { ...release, canary } : release);
  return { releases: context.store.releases.list(key).map((release) => withCanary(wireRelease(context, release))) };
}

export function releaseTarget(context: Context, target: Target) {
  return resolvePodTarget(context.store.manifests, { ...target, kind: target.kind || "deployment" });
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

export function latestRelease(context: Context, key: ManifestKey): ReleaseRecord | undefined {
  return context.store.releases.list(key)[0];
}

/**
 * What is recorded of a release that another one replaces before its end: also what kept it from being ready until
 * then, as far as that is known.
 */
function supersededText(context: Context, release: ReleaseRecord, by: string): string {
  const text = `superseded by release ${by}`;
  const why = knownTrouble(context, release);
  return why === undefined ? text : `${text}; not ready until then: ${why}`;
}

function knownTrouble({ pods, probes, progress }: Context, release: ReleaseRecord): string | undefined {
  const { kind, scope, name, hash, startedAt } = release;
  const key = { kind, scope, name };
  const trouble = progress.trouble(key);
  if (trouble !== undefined && trouble.at >= startedAt) return trouble.message;
  for (const pod of pods.of(key)) {
    if (pod.role !== undefined || pod.hash !== hash) continue;
    if (pod.cannotStart !== undefined) return `${pod.name}: ${pod.cannotStart}`;
    if (pod.oomKilled) return `${pod.name} ran out of memory`;
    const hindrance = hindranceOf({ ...pod, probe: probes.hindrance(pod) });
    if (hindrance !== undefined) return `${pod.name} ${hindrance}`;
  }
  return undefined;
}
