import { Failure, shownCause } from "../../../base/wire/failure.ts";
import { databaseKinds } from "../../api/manifest-key.ts";
import type { CoreKind, ManifestKey, Spec, StoredManifest } from "../../api/manifest.ts";
import { containerOf, podOf } from "../../core/spec/decode.ts";
import { specHash } from "../../core/spec-hash.ts";
import type { ReleaseRecord, Store } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { lastGoodBefore } from "./releases.ts";

/** What is to be stored of one resource. */
interface Wanted {
  key: ManifestKey & { kind: CoreKind };
  spec: Spec;
  /** The image that it runs on then; undefined: what its reference means. */
  imageId?: string | undefined;
}

interface Copying {
  /** The caller does without. */
  noBackup?: boolean | undefined;
  /** The registries were asked again: a reference that means another image now counts where the spec stays the same. */
  force?: boolean | undefined;
  /** Aborts when the caller has left: nothing is changed then. */
  left?: AbortSignal | undefined;
  /** Fails where the change would be refused anyway: then no copy is made. */
  trial?: (() => Promise<unknown>) | undefined;
}

/** What the copy of a database is: its plugin makes it where there is one; undefined for what is none. */
function databaseOf(store: Pick<Store, "blocks" | "manifests">, key: ManifestKey): { plugin?: string } | undefined {
  const stored = store.manifests.get(key);
  if (key.kind !== "statefulset" || stored === undefined) return undefined;
  const owner = store.blocks.ownerOf(key);
  if (owner !== undefined && databaseKinds.includes(owner.kind)) return { plugin: owner.kind };
  return podOf(stored)?.backup === undefined ? undefined : {};
}

/** Whether a change of a manifest takes a copy before it, as far as its text tells. */
export function isCopiedBefore(context: Context, manifest: StoredManifest, previous: StoredManifest): boolean {
  const [from, to] = [previous, manifest].map(({ spec }) => imageOf(manifest, spec));
  return from !== undefined && to !== undefined && from !== to && databaseOf(context.store, manifest) !== undefined;
}

/**
 * A last copy of each database whose image changes, which its own program or another libc may not read any more: blocks of the
 * bundled plugins, and statefulsets with the field `backup`. Ask before anything is written: it fails `conflict` where there is no copy.
 */
export async function copyBefore(context: Context, wanted: readonly Wanted[], copying: Copying): Promise<void> {
  if (copying.noBackup === true || context.copyBefore === undefined) return;
  for (const one of wanted) {
    const database = databaseOf(context.store, one.key);
    if (database === undefined || !holdsData(context, one.key) || !(await changesImage(context, one, copying)))
      continue;
    const app = `${one.key.scope}/${one.key.name}`;
    await copying.trial?.();
    try {
      // A copy of the volume of its backups would be one of older ones.
      if (database.plugin !== undefined && !runs(context, one.key)) throw new Failure("conflict", "no pod of it runs");
      await context.copyBefore({ ...one.key, ...database });
    } catch (error) {
      throw new Failure(
        "conflict",
        `no backup of ${app}, so nothing was changed: ${shownCause(error)}; --no-backup (in the API no_backup=true) changes its image all the same`,
      );
    }
    if (copying.left?.aborted === true) throw new Failure("conflict", "the caller has left; nothing was changed");
  }
}

/** The same before a release that is under way gives way to the last good one. */
export async function copyBeforeReturn(context: Context, release: ReleaseRecord): Promise<void> {
  const goal = lastGoodBefore(context.store.releases.list(release), release);
  const stored = context.store.manifests.get(release);
  if (goal === undefined || stored === undefined) return;
  const wanted = { key: stored, spec: goal.spec, imageId: goal.imageId };
  await copyBefore(context, [wanted], { noBackup: false, left: context.closing });
}

/** Not one that never worked. One whose newest release failed has written nothing since the copy before that, unless it runs. */
function holdsData({ store, pods }: Context, key: ManifestKey): boolean {
  const releases = store.releases.list(key);
  if (!releases.some(({ good }) => good)) return false;
  return releases[0]?.status !== "failed" || runs({ pods }, key);
}

const runs = ({ pods }: Pick<Context, "pods">, key: ManifestKey) =>
  pods.of(key).some(({ state }) => state === "running");

async function changesImage(context: Context, { key, spec, imageId }: Wanted, { force }: Copying): Promise<boolean> {
  const last = context.store.manifests.get(key)?.spec;
  const [from, to] = [last, spec].map((one) => imageOf(key, one));
  if (last === undefined || from === undefined || to === undefined) return false;
  const isSame = force !== true && imageId === undefined && specHash(key.kind, last) === specHash(key.kind, spec);
  if (isSame) return false;
  const pinned = context.store.images.pinOf(key)?.imageId;
  const next = imageId ?? (context.link.up() ? (await context.engine.inspectImage(to))?.id : undefined);
  return pinned === undefined || next === undefined ? from !== to : pinned !== next;
}

/** As written; undefined for one that is built here, of which each build is another. */
function imageOf({ kind }: ManifestKey, spec: Spec | undefined): string | undefined {
  return spec === undefined ? undefined : containerOf(kind, spec)?.container.image;
}
