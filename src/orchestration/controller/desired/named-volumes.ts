import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import type { PruneSummary } from "../../api/apply.ts";
import type { CoreDraft } from "../../core/draft.ts";
import { engineVolumeName, namedVolumeLabels, volumeUses } from "../../core/named-volumes.ts";
import { podOf } from "../../core/spec/decode.ts";
import { isEngineVolumeName } from "../../core/naming.ts";
import type { ContainerTemplate, Mount } from "../../core/workload.ts";
import type { NamedVolumeRecord, Store, Transaction } from "../../store/store.ts";
import { wayToCopy } from "./volumes.ts";
import type { Context } from "../state/context.ts";

/** Notes in the transaction of an apply which volumes the manifest names: the rows outlive it, as the volumes do. */
export function recordVolumes({ names }: Context, tx: Transaction, manifest: CoreDraft, createdAt: number): void {
  const { kind, scope, name } = manifest;
  for (const { owner, name: volume, external } of volumeUses(manifest)) {
    if (external) continue;
    const plain = isEngineVolumeName(names, volume) || tx.namedVolumes.isPlain(owner, volume);
    tx.namedVolumes.put({ kind, scope, name, owner, volume, plain, createdAt });
  }
}

/** The volumes that a container mounts by name: made, with labels, where the engine has none. */
export async function ensureVolumes(context: Context, { mounts, options }: ContainerTemplate): Promise<void> {
  const { engine, names } = context;
  for (const { source, volume } of mounts) {
    if (volume === undefined) continue;
    context.volumeHolds.refuse(source);
    const isThere = (await engine.inspectVolume(source)) !== undefined;
    if (volume.external && !isThere) throw new Failure("conflict", externalText(source), { reason: "VolumeMissing" });
    // One that is written by its name in the engine may be of anybody; only what holds the scope has to be ours.
    if (isThere && source === volume.name) continue;
    const block = source === volume.name ? options.labels?.[names.label.block] : undefined;
    await engine.ensureVolume(source, namedVolumeLabels(names, volume, block));
  }
}

/**
 * Fails `conflict`/`VolumeMissing` for a volume of a protected app that is gone after a restore of the server: an empty one in
 * its place would look like data that was lost silently.
 */
export async function requireProtected(context: Context, key: ManifestKey, mounts: readonly Mount[]): Promise<void> {
  const { engine, gate, store } = context;
  if (gate.isOpen()) return;
  const stored = store.manifests.get(key);
  const backup = stored && podOf(stored)?.backup;
  if (backup === undefined) return;
  for (const { source, volume } of mounts) {
    const isCopied =
      volume !== undefined && !volume.external && (backup.volumes ?? [volume.name]).includes(volume.name);
    if (!isCopied || (await engine.inspectVolume(source)) !== undefined) continue;
    const claim = volume.owner === key.scope ? volume.name : `${volume.owner}/${volume.name}`;
    const way = wayToCopy(context, { ...key, claim, ordinal: undefined });
    const text = `volume "${source}" is gone${way}, or start empty with docker volume create ${source}`;
    throw new Failure("conflict", text, { reason: "VolumeMissing" });
  }
}

function externalText(name: string): string {
  return `volume "${name}" is external and the engine has none; make it with: docker volume create ${name}`;
}

/** What an operator should know of the volumes of a manifest: with whom they are shared. */
export function volumeWarnings({ store, names }: Context, manifest: StoredManifest): string[] {
  return volumeUses(manifest).flatMap(({ owner, name, external, path }) => {
    if (external) return [];
    if (isEngineVolumeName(names, name)) {
      const isOwn = ["-", "_"].some((dash) => name.includes(`${dash}${manifest.scope}${dash}`));
      return isOwn ? [] : [`${path}: "${name}" is a name in the engine, and the volume perhaps that of another scope`];
    }
    if (owner !== manifest.scope) return [`${path}: "${owner}/${name}" is the volume of scope "${owner}"; both see it`];
    return sharedWarning({ path, name }, othersOn(store.namedVolumes.plainUsers(name), owner));
  });
}

/** Users of the same volume in the engine that have a scope of their own. */
function othersOn(users: readonly NamedVolumeRecord[], owner: string): NamedVolumeRecord[] {
  return users.some((user) => user.owner === owner) ? users.filter((user) => user.owner !== owner) : [];
}

function sharedWarning({ path, name }: { path: string; name: string }, others: readonly NamedVolumeRecord[]): string[] {
  if (others.length === 0) return [];
  const refs = others.map(formatKey).join(", ");
  return [
    `${path}: volume "${name}" is also that of ${refs}, from before volumes belonged to scopes; all keep it. ` +
      "Give one of them another name to separate them",
  ];
}

/** Does what may fail, and notes it in the summary instead of giving up. */
type Attempt = (what: string, remove: () => Promise<void>) => Promise<void>;

/**
 * The volumes that a resource named, at a delete with prune. What others use, or what has a plain name in the engine and
 * may be of anybody, is kept, and the summary says so.
 */
export async function pruneNamedVolumes(
  context: Context,
  key: ManifestKey,
  { summary, attempt }: { summary: PruneSummary; attempt: Attempt },
): Promise<void> {
  const { store, names } = context;
  for (const use of store.namedVolumes.list(key)) {
    const { owner, volume } = use;
    const engineName = engineVolumeName({ owner, name: volume, external: false }, names, () => use.plain);
    await attempt(`volume ${engineName}`, async () => {
      const kept = await whyKept(context, key, { use, engineName });
      if (kept !== undefined) summary.volumes_kept = [...(summary.volumes_kept ?? []), `${engineName}: ${kept}`];
      else if (await removeVolume(context, engineName)) summary.volumes_removed.push(engineName);
      await store.write((tx) => {
        // Applied again, perhaps while the volume was removed: it is used as before.
        if (namesVolume(tx, key, use) || (kept !== undefined && isLastOfOwner(tx, use))) return;
        const gone = kept === undefined ? goneBorrowers(tx, use) : [];
        for (const row of [use, ...gone]) tx.namedVolumes.remove(row, row);
      });
    });
  }
}

type Rows = Pick<Store, "manifests" | "namedVolumes">;

/** Whether the manifest that is stored now names the volume. */
function namesVolume({ manifests }: Rows, key: ManifestKey, { owner, volume }: NamedVolumeRecord): boolean {
  const stored = manifests.get(key);
  return stored !== undefined && volumeUses(stored).some((use) => use.owner === owner && use.name === volume);
}

/** Its row stays while other scopes have the volume: by it the scope that owns the volume can still remove it. */
function isLastOfOwner({ namedVolumes }: Rows, use: NamedVolumeRecord): boolean {
  const { owner, volume, plain } = use;
  const others = namedVolumes.users(owner, volume).filter((row) => formatKey(row) !== formatKey(use));
  return !plain && use.scope === owner && others.length > 0 && others.every(({ scope }) => scope !== owner);
}

/** Users of other scopes whose manifests are gone: to the scope that owns the volume that does not keep it. */
function goneBorrowers({ manifests, namedVolumes }: Rows, use: NamedVolumeRecord): NamedVolumeRecord[] {
  if (use.scope !== use.owner) return [];
  return namedVolumes
    .users(use.owner, use.volume)
    .filter((row) => row.scope !== use.owner && manifests.get(row) === undefined);
}

async function whyKept(
  context: Context,
  key: ManifestKey,
  { use, engineName }: { use: NamedVolumeRecord; engineName: string },
): Promise<string | undefined> {
  const { store, engine, names } = context;
  const gone = goneBorrowers(store, use).map(formatKey);
  const others = store.namedVolumes
    .users(use.owner, use.volume)
    .filter((row) => ![formatKey(key), ...gone].includes(formatKey(row)));
  const ownersLeft = others.find(({ scope }) => scope === use.owner);
  const isLeft = others.every((row) => store.manifests.get(row) === undefined);
  if (isLeft && ownersLeft !== undefined && use.scope !== use.owner) {
    return `it belongs to scope ${use.owner}; to remove it: berth delete ${use.owner}/${ownersLeft.name} --prune`;
  }
  const refs = others.map(formatKey);
  if (refs.length > 0) return `${refs.join(", ")} ${refs.length === 1 ? "has" : "have"} it too`;
  const found = await engine.inspectVolume(engineName);
  if (found === undefined) return undefined;
  const isOurs = found.labels[names.label.installation] === store.installationId;
  if (isOurs && !use.plain && use.owner === key.scope) return undefined;
  const why = isOurs && !use.plain ? `it belongs to scope ${use.owner}` : "its name does not tie it to one scope";
  return `${why}; to remove it: docker volume rm ${engineName}`;
}

async function removeVolume({ engine }: Context, name: string): Promise<boolean> {
  const isThere = (await engine.inspectVolume(name)) !== undefined;
  if (isThere) await engine.removeVolume(name);
  return isThere;
}
