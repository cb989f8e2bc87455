import { Failure, type Problem, problemsFailure } from "../api/failure.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec, type StoredManifest } from "../api/manifest.ts";
import { type AssetTarget, stampAssetDigests } from "../core/assets.ts";
import { claimConflictCode, claimsOf, conflictText, duplicateClaims } from "../core/claims.ts";
import { dependenciesOf } from "../core/dependencies.ts";
import { changedPaths } from "../core/diff.ts";
import { restoreMasked } from "../core/mask.ts";
import type { PutResult, Transaction } from "../store/store.ts";
import { assetStatus, isAssetStatus, type MaterialisedAsset, storedAsset } from "./assets.ts";
import type { Context } from "./context.ts";
import { deleteInside } from "./delete.ts";

export interface ApplyOptions {
  dryRun: boolean;
  prune: boolean;
  actor: string;
}

/** A core-kind manifest on its way in. `path` is how problems about it begin. */
export interface Incoming {
  key: ManifestKey & { kind: CoreKind };
  spec: Spec;
  ifRevision: number | undefined;
  path: string;
  asset: MaterialisedAsset | undefined;
}

/** What the transaction of an apply did, or of a dry run would have done. */
export interface Outcome {
  puts: PutResult[];
  /** Readers, outside the apply, of assets inside it. */
  restamped: PutResult[];
  pruned: ManifestKey[];
}

export interface Change {
  incoming: Incoming[];
  options: ApplyOptions;
}

/** Steps 5 to 8 inside one transaction: whatever is thrown here leaves nothing behind. */
export function change(context: Context, tx: Transaction, { incoming, options }: Change): Outcome {
  const now = context.clock.now();
  const problems: Problem[] = [];
  // Before the rest is judged: what goes gives back its hosts, and its files are no longer there to be read.
  const pruned = options.prune ? prune(tx, { incoming, options, now }) : [];
  const ready = incoming.map((item) => prepare(context, tx, { item, incoming, problems }));
  if (problems.length > 0) throw problemsFailure(problems);
  refuseConflicts(tx, ready);
  const puts = ready.map((item) => put(context, tx, { item, options, now }));
  const restamped = restampReaders(context, tx, { puts, incoming, now, actor: options.actor });
  return { puts, restamped, pruned };
}

interface Preparation {
  item: Incoming;
  incoming: Incoming[];
  problems: Problem[];
}

/** Masks give way to the stored secrets, revisions are compared, digests stamped. */
function prepare(context: Context, tx: Transaction, { item, incoming, problems }: Preparation): Incoming {
  const stored = tx.manifests.get(item.key);
  const revision = stored?.revision ?? 0;
  if (item.ifRevision !== undefined && item.ifRevision !== revision) {
    const now = stored === undefined ? "it is not stored" : `it is at revision ${revision}`;
    throw new Failure(
      "conflict",
      `${item.path}metadata.if_revision: ${formatKey(item.key)} was expected at revision ${item.ifRevision}, but ${now}; look again and re-apply`,
    );
  }
  const restored = restoreMasked(item.key.kind, item.spec, stored?.spec);
  const stamped = stampAssetDigests({ ...item.key, spec: restored.spec }, digestLookup(context, incoming));
  for (const problem of [...restored.problems, ...stamped.problems]) {
    problems.push({ path: `${item.path}${problem.path}`, message: problem.message });
  }
  return { ...item, spec: stamped.spec };
}

/** Digests come from this apply first, then from what is stored. `scope` is "" for unscoped assets. */
function digestLookup(context: Context, incoming: Incoming[]) {
  const fresh = new Map(incoming.filter(({ asset }) => asset).map((item) => [formatKey(item.key), item.asset]));
  return ({ scope, name, key }: AssetTarget): string | null | undefined => {
    const asset = fresh.get(formatKey({ kind: "asset", scope, name })) ?? storedAsset(context, scope, name);
    if (asset === undefined) return undefined;
    return asset.files[key] ?? (asset.declared.includes(key) ? null : undefined);
  };
}

/** Step 5: names, volumes, hosts that another manifest owns. */
function refuseConflicts(tx: Transaction, ready: Incoming[]): void {
  const claims = ready.map((item) => ({ item, claims: claimsOf({ ...item.key, spec: item.spec }) }));
  const twins = duplicateClaims(ready.map((item) => ({ ...item.key, spec: item.spec })));
  for (const { claim, first, second } of twins) {
    const [holder, late] = [ready[first], ready[second]];
    if (holder !== undefined && late !== undefined) refuseClaim(claim, holder.key, late.path);
  }
  const replaced = new Set(ready.map((item) => formatKey(item.key)));
  for (const { item, claims: own } of claims) {
    // What this very apply writes anew is judged by its new claims, above.
    const held = tx.manifests.claimConflicts(item.key, own).filter(({ heldBy }) => !replaced.has(formatKey(heldBy)));
    for (const { claim, heldBy } of held) refuseClaim(claim, heldBy, item.path);
  }
}

function refuseClaim(claim: string, heldBy: ManifestKey, path: string): never {
  const field = claim.startsWith("host:") ? "spec.host" : claim.startsWith("registry:") ? "spec.url" : "name";
  throw new Failure(claimConflictCode(claim), `${path}${field}: ${conflictText(claim, heldBy)}`);
}

interface Put {
  item: Incoming;
  options: ApplyOptions;
  now: number;
}

/** Step 7 for one manifest. */
function put(context: Context, tx: Transaction, { item, options, now }: Put): PutResult {
  const { key, spec, asset } = item;
  const result = tx.manifests.put({ ...key, spec }, now);
  const deletion = tx.deletions.get(key);
  // Deleted and applied again before anything was torn down: what runs is taken back. A prune is finished first.
  if (deletion !== undefined && !deletion.prune) tx.deletions.remove(key);
  if (result.outcome === "unchanged") {
    const failed = context.progress.trouble(key) !== undefined || deletion !== undefined;
    if (failed) tx.manifests.touch(key);
    if (asset === undefined) return result;
  } else {
    index(tx, { ...key, spec });
    tx.events.append(
      {
        actor: options.actor,
        action: "manifest.apply",
        ...key,
        revision: result.manifest.revision,
        detail: { outcome: result.outcome, changed: changedPaths(result.previous?.spec ?? {}, spec).slice(0, 50) },
      },
      now,
    );
  }
  if (asset !== undefined) putAssetStatus(tx, { key, asset, result, now });
  return result;
}

/** What other manifests may not take, and what this one reads. */
function index(tx: Transaction, manifest: ManifestKey & { kind: CoreKind; spec: Spec }): void {
  tx.manifests.setClaims(manifest, claimsOf(manifest));
  tx.manifests.setDependencies(manifest, dependenciesOf(manifest));
}

interface AssetPut {
  key: ManifestKey;
  asset: MaterialisedAsset;
  result: PutResult;
  now: number;
}

function putAssetStatus(tx: Transaction, { key, asset, result, now }: AssetPut): void {
  const status = tx.status.get(key);
  const known = isAssetStatus(status) ? JSON.stringify([status.files, status.errors, status.observed_revision]) : "";
  if (known === JSON.stringify([asset.files, asset.errors, result.manifest.revision])) return;
  tx.status.put(key, assetStatus(asset, result.manifest.revision, now));
}

interface Restamp {
  puts: PutResult[];
  incoming: Incoming[];
  now: number;
  actor: string;
}

/** Readers outside this apply of an asset inside it: their digests move, so that they roll. */
function restampReaders(context: Context, tx: Transaction, { puts, incoming, now, actor }: Restamp): PutResult[] {
  const present = new Set(incoming.map((item) => formatKey(item.key)));
  const readers = new Map<string, ManifestKey>();
  for (const { manifest } of puts) {
    if (manifest.kind !== "asset") continue;
    for (const key of tx.manifests.dependants(`asset/${manifest.scope}/${manifest.name}`)) {
      if (!present.has(formatKey(key))) readers.set(formatKey(key), key);
    }
  }
  return [...readers.values()].flatMap((key) => {
    const stored = tx.manifests.get(key);
    return stored === undefined ? [] : restamp(context, tx, { stored, incoming, now, actor });
  });
}

interface ReaderRestamp {
  stored: StoredManifest;
  incoming: Incoming[];
  now: number;
  actor: string;
}

function restamp(context: Context, tx: Transaction, { stored, incoming, now, actor }: ReaderRestamp): PutResult[] {
  const { spec, problems } = stampAssetDigests(stored, digestLookup(context, incoming));
  if (problems.length > 0) {
    const [first] = problems;
    throw new Failure(
      "invalid",
      `${formatKey(stored)} needs what this apply takes away: ${first?.path}: ${first?.message}`,
    );
  }
  const result = tx.manifests.put({ kind: stored.kind, scope: stored.scope, name: stored.name, spec }, now);
  if (result.outcome === "unchanged") return [];
  const { kind, scope, name, revision } = result.manifest;
  tx.events.append({ actor, action: "asset.changed", kind, scope, name, revision }, now);
  return [result];
}

/** Step 8: siblings in the same (scope, kind); unscoped kinds are never pruned. */
function prune(tx: Transaction, { incoming, options, now }: Change & { now: number }): ManifestKey[] {
  const kept = new Set(incoming.map((item) => formatKey(item.key)));
  const groups = new Map(incoming.map(({ key }) => [`${key.kind}/${key.scope}`, key]));
  return [...groups.values()].flatMap(({ kind, scope }) => {
    if (scope === "") return [];
    const siblings = tx.manifests.list({ kind, scope }).filter((sibling) => !kept.has(formatKey(sibling)));
    for (const sibling of siblings) {
      deleteInside(tx, { key: sibling, prune: false, actor: options.actor, why: "apply with prune", now });
    }
    return siblings;
  });
}
