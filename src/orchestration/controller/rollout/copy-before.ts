import { Failure, shownCause } from "../../../base/wire/failure.ts";
import { databaseKinds } from "../../api/manifest-key.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec, type StoredManifest } from "../../api/manifest.ts";
import { containerOf, podOf } from "../../core/spec/decode.ts";
import { specHash } from "../../core/spec-hash.ts";
import type { ReleaseRecord, Store } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { requireUnlocked } from "../state/locks.ts";
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
  /** How to go on where no copy can be made, for callers that cannot do without one themselves. */
  wayOut?: string | undefined;
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
  const keys = wanted.map(({ key }) => key);
  for (const one of wanted) {
    const database = databaseOf(context.store, one.key);
    if (database === undefined || !holdsData(context, one.key) || !(await changesImage(context, one, copying)))
      continue;
    const app = `${one.key.scope}/${one.key.name}`;
    // A trial writes nothing, so it passes locks.
    if (copying.trial !== undefined) requireUnlocked(context, context.store, keys);
    await copying.trial?.();
    refuseLeft(copying);
    try {
      // A copy of the volume of its backups would be one of older ones.
      if (database.plugin !== undefined && !runs(context, one.key)) throw new Failure("conflict", "no pod of it runs");
      await context.copyBefore({ ...one.key, ...database });
    } catch (error) {
      const { wayOut = "to change its image all the same: --no-backup (in the API no_backup=true)" } = copying;
      throw new Failure("conflict", `no backup of ${app}, so nothing was changed: ${shownCause(error)}; ${wayOut}`);
    }
    refuseLeft(copying);
  }
}

function refuseLeft({ left }: Copying): void {
  if (left?.aborted === true) throw new Failure("conflict", "the caller has left; nothing was changed");
}

/** The same before a release that is under way gives way to the last good one. */
export async function copyBeforeReturn(context: Context, release: ReleaseRecord): Promise<void> {
  const goal = lastGoodBefore(context.store.releases.list(release), release);
  const stored = context.store.manifests.get(release);
  if (goal === undefined || stored === undefined) return;
  const wanted = { key: stored, spec: goal.spec, imageId: goal.imageId };
  const wayOut = `to go back without one: berth rollback ${release.scope}/${release.name} --no-backup`;
  await copyBefore(context, [wanted], { left: context.closing, wayOut });
}

/** The copies before failed releases go back, by resource: of which release, and whether nothing waits for it any more. */
const returns = new WeakMap<Store, Map<string, { release: string; isOver: boolean }>>();

/**
 * Whether a failed release may go back now. The first call begins a copy; its end, or that of the time for it, is looked at
 * again. A copy may take hours, and what serves badly goes back all the same: a copy was made before this release.
 */
export function isCopiedForReturn(context: Context, release: ReleaseRecord): boolean {
  const { store, log, clock, closing, limits } = context;
  if (context.copyBefore === undefined || databaseOf(store, release) === undefined) return true;
  const known = returns.get(store) ?? new Map<string, { release: string; isOver: boolean }>();
  returns.set(store, known);
  const [key, stands] = [formatKey(release), known.get(formatKey(release))];
  if (stands?.release === release.id) return stands.isOver;
  const begun = { release: release.id, isOver: false };
  known.set(key, begun);
  const ended = new AbortController();
  const late = clock.sleep(limits.returnCopyMs, AbortSignal.any([closing, ended.signal])).then(() => {
    throw new Failure("timeout", "it takes too long");
  });
  void Promise.race([copyBeforeReturn(context, release), late])
    .catch((error: unknown) =>
      log.warn("no backup before a failed release is put back", { release: release.id, error }),
    )
    .finally(() => {
      ended.abort();
      begun.isOver = !closing.aborted;
      context.enqueue(release);
    });
  return false;
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
