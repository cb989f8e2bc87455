import { Failure } from "../../../base/wire/failure.ts";
import { type CoreKind, formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import { assetFiles } from "../../core/assets.ts";
import { referenceDependency } from "../../core/dependencies.ts";
import { reportsValues, type ReferencedManifest } from "../../core/reported-values.ts";
import { movedUses, type ReferenceTarget, type FindReferenced } from "../../core/references.ts";
import type { Store, Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { isPodKind } from "../state/target.ts";

type Reads = Pick<Store, "manifests" | "assetFiles">;

/** The stored manifest that a `${ref.…}` names. */
export function storedReferenced(store: Reads, target: ReferenceTarget): ReferencedManifest | undefined {
  const manifest = store.manifests.get(target);
  if (manifest === undefined) return undefined;
  const { kind, scope, name, spec } = manifest;
  if (kind !== "asset") return { kind, scope, name, spec };
  return { kind, scope, name, spec, ...wholeDigests(spec, store.assetFiles.get(manifest)?.files ?? {}) };
}

/** A manifest that is about to be stored. */
interface Fresh {
  key: ManifestKey & { kind: CoreKind };
  spec: ReferencedManifest["spec"];
  asset: { files: Record<string, string> } | undefined;
}

/** What an apply brings comes before what is stored. */
export function freshReferenced(store: Reads, incoming: readonly Fresh[]): FindReferenced {
  const fresh = new Map(incoming.map((item) => [formatKey(item.key), item]));
  return (target) => {
    const item = fresh.get(formatKey(target));
    if (item === undefined) return storedReferenced(store, target);
    const digests = item.asset === undefined ? {} : wholeDigests(item.spec, item.asset.files);
    return { ...item.key, spec: item.spec, ...digests };
  };
}

/** Digests once the content of every file is here. */
function wholeDigests(
  spec: ReferencedManifest["spec"],
  files: Record<string, string>,
): Pick<ReferencedManifest, "digests"> {
  return assetFiles(spec).every(({ key }) => Object.hasOwn(files, key)) ? { digests: files } : {};
}

/** A manifest that others read, before it is written. */
interface Watched {
  target: ReferenceTarget;
  before: ReferencedManifest | undefined;
  readers: ManifestKey[];
}

/** Who reads the values of what is about to be written, and what those are so far. */
export function watchReaders(tx: Transaction, keys: readonly ManifestKey[]): Watched[] {
  return keys.flatMap(({ kind, scope, name }): Watched[] => {
    if (!reportsValues(kind)) return [];
    const target = { kind, scope, name };
    const readers = tx.manifests.dependants(referenceDependency(target));
    return readers.length === 0 ? [] : [{ target, before: storedReferenced(tx, target), readers }];
  });
}

interface Rolling {
  watched: readonly Watched[];
  /** Whether a value may be taken away from its readers: where no operator is asked, they wait. */
  refuseLoss: boolean;
  actor: string;
  now: number;
}

/**
 * Readers of values that the transaction changed are replaced, as after a change of config; those that waited for them
 * are looked at. Returns the readers as they are now. Fails `invalid` where a value that is read goes.
 */
export function rollReaders(context: Context, tx: Transaction, rolling: Rolling): StoredManifest[] {
  const moved = new Map<string, ManifestKey>();
  for (const { target, before, readers } of rolling.watched) {
    const after = storedReferenced(tx, target);
    if (after === undefined) continue;
    for (const reader of readers) {
      const stored = tx.manifests.get(reader);
      if (stored === undefined) continue;
      const uses = movedUses(stored, { before, after, names: context.names });
      const lost = uses.find((use) => use.lost);
      if (lost !== undefined && rolling.refuseLoss) throw takenAway(stored, lost.use, target);
      if (uses.length > 0) moved.set(formatKey(reader), reader);
    }
  }
  return [...moved.values()].flatMap((reader) => roll(tx, reader, rolling));
}

function roll(tx: Transaction, key: ManifestKey, { actor, now }: Rolling): StoredManifest[] {
  // A run of a job is made with what the values are when it starts.
  if (!isPodKind(key.kind)) return [];
  tx.manifests.raiseGeneration(key);
  tx.events.append({ actor, action: "reference.changed", ...key }, now);
  return [tx.manifests.get(key)].filter((stored) => stored !== undefined);
}

function takenAway(reader: ManifestKey, use: { text: string; path: string }, target: ManifestKey): Failure {
  const text = `${formatKey(reader)} reads "${use.text}" in ${use.path}, which this change of ${formatKey(target)} takes away`;
  return new Failure("invalid", `${text}; change the reader first or with it`);
}

/** Readers of what goes learn that it is gone: they keep what runs, and make nothing new without it. */
export function tellReaders(tx: Transaction, key: ManifestKey): void {
  for (const { readers } of watchReaders(tx, [key])) for (const reader of readers) tx.manifests.touch(reader);
}
