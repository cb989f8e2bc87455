import type { Principal } from "../../../access/principal.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import type { rollback as rollbackEndpoint } from "../../api/releases.ts";
import { type Author, deployMessage } from "../../core/deploy-message.ts";
import { builtImage } from "../../core/build/built-image.ts";
import { changedPaths } from "../../core/diff.ts";
import { podOf } from "../../core/spec/decode.ts";
import { specHash } from "../../core/spec-hash.ts";
import { type FaultCount, rolledBackSpec } from "../../core/rollback.ts";
import { specValidators } from "../../core/spec-validators.ts";
import type { ReleaseRecord, Store, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { RollbackOptions, Target } from "../requests.ts";
import { imageIdOf } from "../desired/images.ts";
import { requireKnown } from "../desired/known-image.ts";
import { rollReaders, watchReaders } from "../desired/references.ts";
import { writeUnlessDry } from "../state/dry-run.ts";
import { requireAllowed } from "../state/authority.ts";
import { requireUnlocked } from "../state/locks.ts";
import { copyBefore } from "./copy-before.ts";
import { lastGoodOther, mintRelease, pathsKept, releaseTarget } from "./releases.ts";

/** POST /rollback: supersedes whatever is under way. */
export async function rollback(
  context: Context,
  target: Target & { releaseId: string | undefined },
  { actor, by, message: text, dryRun = false, noBackup, left }: RollbackOptions,
): Promise<DataOf<typeof rollbackEndpoint>> {
  const author = { actor, message: deployMessage(text, context.limits.messageCharactersMax) };
  const { kind, scope, name } = releaseTarget(context, target);
  const key = { kind, scope, name };
  if (!dryRun) requireUnlocked(context, context.store, [key]);
  await requireImage(context, key, target.releaseId);
  if (!dryRun) await copyFirst(context, key, { releaseId: target.releaseId, by, noBackup, left });
  const result = await writeUnlessDry(context.store, dryRun, (tx) => {
    const stored = tx.manifests.get(key);
    if (stored === undefined) throw new Failure("not_found", `${formatKey(key)} not found`);
    if (!dryRun) requireUnlocked(context, tx, [key]);
    const goal = rollbackGoal(tx, stored, target.releaseId);
    return putBack(context, tx, { stored, goal, cause: "rollback", author, by, why: "rollback asked for" });
  });
  if (!dryRun) context.enqueue(key);
  const { goal, release, takenBack } = result;
  return {
    scope,
    name,
    kind,
    rolled_back_to: goal,
    ...(dryRun ? {} : { new_release: release }),
    taken_back: takenBack,
  };
}

async function copyFirst(
  context: Context,
  key: ManifestKey,
  { releaseId, by, ...copying }: Pick<RollbackOptions, "by" | "noBackup" | "left"> & { releaseId: string | undefined },
): Promise<void> {
  const stored = context.store.manifests.get(key);
  if (stored === undefined) return;
  const { spec: past, imageId } = rollbackGoal(context.store, stored, releaseId);
  const spec = rolledBackSpec(past, stored.spec, faultCount(context, stored.kind));
  const wanted = { key: { ...key, kind: stored.kind }, spec };
  requireAllowed(by, [wanted], context.store);
  await copyBefore(context, [{ ...wanted, imageId }], copying);
}

/** Before anything is stored: a release whose image is gone would only fail. */
async function requireImage(context: Context, key: ManifestKey, releaseId: string | undefined): Promise<void> {
  const stored = context.store.manifests.get(key);
  if (stored === undefined || !context.link.up()) return;
  const goal = rollbackGoal(context.store, stored, releaseId);
  if (goal.imageId === undefined) return;
  const { imageId, image } = goal;
  const ref = image === "" ? builtImage(key.scope, key.name, podOf(goal)) : image;
  const known = { imageId, digest: undefined, ref, pullable: image !== "" };
  await requireKnown(context, key, known).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.reason !== "ImageMissing") throw error;
    const message = `release ${goal.id} cannot come back: its image ${imageId} ("${ref}") is not on this machine any more; load it again, or choose another release: berth releases ${key.scope}/${key.name}`;
    throw new Failure("conflict", message, { reason: "ImageMissing" });
  });
}

function rollbackGoal(
  tx: Pick<Store, "releases" | "images">,
  stored: StoredManifest,
  id: string | undefined,
): ReleaseRecord {
  const releases = tx.releases.list(stored);
  if (id) {
    const wanted = releases.find((release) => release.id === id);
    if (wanted === undefined) throw new Failure("not_found", `${formatKey(stored)} has no release "${id}"`);
    if (!wanted.good) throw new Failure("conflict", `release ${id} never became ready; choose one that succeeded`);
    return wanted;
  }
  const hash = specHash(stored.kind, stored.spec);
  const goal = lastGoodOther(releases, { hash, imageId: imageIdOf(tx, stored, hash) });
  if (goal === undefined)
    throw new Failure("conflict", `${formatKey(stored)} has no earlier good release to return to`);
  return goal;
}

/** Whether a spec keeps the rules of its kind; by these a rollback judges which settings fit. */
export function faultCount({ limits }: Context, kind: StoredManifest["kind"]): FaultCount {
  const faults = specValidators[kind];
  return (spec) => faults(spec, limits).length;
}

interface PuttingBack {
  stored: StoredManifest;
  goal: ReleaseRecord;
  cause: "rollback" | "auto_rollback";
  author: Author;
  why: string;
  /** Left out, it may do the least. */
  by: Principal | undefined;
}

/** Stores the spec of a past release with the settings of today, and mints the release of it, on its image. */
export function putBack(context: Context, tx: Transaction, { stored, goal, cause, author, by, why }: PuttingBack) {
  const { actor, message } = author;
  const now = context.clock.now();
  const { kind, scope, name } = stored;
  const spec = rolledBackSpec(goal.spec, stored.spec, faultCount(context, kind));
  requireAllowed(by, [{ key: { kind, scope, name }, spec }], tx);
  const takenBack = changedPaths(stored.spec, spec).slice(0, pathsKept);
  const watched = watchReaders(tx, [stored]);
  const { manifest } = tx.manifests.put({ kind, scope, name, spec }, now);
  // There may be no one to warn that a value goes: its readers wait.
  rollReaders(context, tx, { watched, refuseLoss: false, actor, now });
  const image = goal.imageId === undefined ? {} : { imageId: goal.imageId };
  const record = mintRelease(context, tx, {
    manifest,
    cause,
    rolledBackFrom: goal.id,
    takenBack,
    ...image,
    author: { ...author, by },
    now,
  });
  const detail = {
    to: goal.id,
    release: record.id,
    why,
    taken_back: takenBack,
    ...(message === undefined ? {} : { message }),
  };
  tx.events.append({ actor, action: "release.rollback", kind, scope, name, revision: manifest.revision, detail }, now);
  return { goal: goal.id, release: record.id, takenBack };
}
