import type { Guard } from "../../../access/allowed.ts";
import type { Principal } from "../../../access/principal.ts";
import { type Place, type Problem, problemsAt } from "../../../base/wire/failure.ts";
import { type CoreKind, formatKey, type ManifestKey, type Spec, type StoredManifest } from "../../api/manifest.ts";
import { type AssetLookup, stampAssetDigests } from "../../core/assets.ts";
import { reservationsOf } from "../../core/reservations.ts";
import { dependenciesOf } from "../../core/dependencies.ts";
import { changedPaths } from "../../core/diff.ts";
import { capacityProblems } from "../../core/capacity.ts";
import { restoreMasked } from "../../core/mask.ts";
import { referenceProblems, type FindReferenced } from "../../core/references.ts";
import { startCycles } from "../../core/start-after.ts";
import type { PutResult, Transaction } from "../../store/store.ts";
import { lostReaderWarnings } from "../desired/asset-readers.ts";
import { fileOf, type MaterialisedAsset, putAsset, storedLookup } from "../desired/assets.ts";
import { takeOverCount } from "../desired/autoscale.ts";
import { takeOverSleep } from "../state/sleep-changes.ts";
import {
  type BlockChange,
  type BlockPut,
  borrowed,
  dropLeftovers,
  putBlocks,
  requireMakers,
  requireOwners,
  requireRevisions,
  revisionConflict,
} from "./block-change.ts";
import { conflictsOf, refuseFaulty, type Reserving } from "./conflicts.ts";
import type { Context } from "../state/context.ts";
import { type PulledImages, releaseMoved } from "../rollout/image-pulls.ts";
import { freshReferenced, rollReaders, watchReaders } from "../desired/references.ts";
import { recordVolumes } from "../desired/named-volumes.ts";
import { routedSpec } from "../state/ingress-plugin.ts";
import { requireAllowed } from "../state/authority.ts";
import type { ClosingField } from "../../api/kinds/ingress-plugin.ts";
import { requireClosed } from "./closed.ts";
import { lockWarnings, requireUnlocked } from "../state/locks.ts";
import { prune } from "./prune.ts";
import { type GoingBack, releaseFor } from "../rollout/releases.ts";
import { restampReaders } from "../desired/restamp.ts";
import { lostHostWarnings } from "./uses.ts";

export interface ApplyOptions {
  dryRun: boolean;
  prune: boolean;
  /** Ask the registries for the images again. */
  force?: boolean;
  /** Let a block have manifests that were applied by themselves. */
  takeOver?: boolean;
  /** Hand blocks to plugins that did not make them. */
  replacePlugin?: boolean;
  /** An action of a plugin asks for it. */
  byAction?: boolean;
  /** What closes a site and may be lost as another plugin takes it. */
  drop?: readonly ClosingField[];
  /** Change images of databases without a copy of them before. */
  noBackup?: boolean;
  /** Aborts when the caller has left. */
  left?: AbortSignal;
  /** Put all of it back when one resource does not become ready. */
  atomic?: boolean;
  /** Goes back to what was wanted at a time (ISO 8601): with the writes, these were not wanted. Plans name missing builds. */
  restoring?: { at: string; deletes: readonly ManifestKey[] };
  /** Take builds that have no id: see `settleBuilds`. */
  unbuilt?: boolean;
  actor: string;
  /** Who may what: see `requireAllowed`. Left out, it may do the least. */
  by?: Principal | undefined;
  /** Why, in the words of the actor. */
  message?: string | undefined;
  /** Gets what the transaction did, of a dry run what it would have done, once it has ended. */
  onTried?: (tried: Tried) => void;
}

/** What an apply would store. */
interface Tried {
  outcome: Outcome;
  /** What blocks were expanded into, by `kind/scope/name`, with their block. */
  children: ReadonlyMap<string, string>;
  /** Blocks of a dry run that were not expanded. */
  unknown: readonly { ref: string; why: string }[];
}

/** A core-kind manifest on its way in. */
export interface Incoming {
  key: ManifestKey & { kind: CoreKind };
  spec: Spec;
  ifRevision: number | undefined;
  place: Place;
  asset: MaterialisedAsset | undefined;
  /** Set for a manifest that a plugin makes now. */
  guard?: Guard | undefined;
}

/** What the transaction of an apply did, or of a dry run would have done. */
export interface Outcome {
  puts: PutResult[];
  /** Readers, outside the apply, of assets and values inside it. */
  readers: PutResult[];
  /** What manifests report once this is stored. */
  findReferenced: FindReferenced;
  pruned: ManifestKey[];
  /** Those of `pruned` that blocks were expanded into before. */
  leftovers: ManifestKey[];
  blocks: BlockPut[];
  warnings: string[];
}

interface Change {
  incoming: Incoming[];
  /** The blocks that some of them came from. */
  blocks?: readonly BlockChange[];
  /** Blocks of a dry run that are in it and were not expanded: nothing prunes them. */
  standing?: readonly ManifestKey[];
  options: ApplyOptions;
  /** What the registries said just now. */
  pulled: PulledImages | undefined;
  /** What was wrong before the transaction; told with what is found inside. */
  earlier?: readonly Problem[];
  /** Where this undoes an apply. */
  goingBack?: GoingBack;
}

/** Steps 5 to 8 inside one transaction: whatever is thrown here leaves nothing behind. */
export function change(context: Context, tx: Transaction, changing: Change): Outcome {
  const { incoming, blocks = [], standing = [], options, pulled, earlier = [], goingBack } = changing;
  const now = context.clock.now();
  const { actor } = options;
  const problems: Problem[] = [...earlier];
  const kept = new Set(incoming.map((item) => formatKey(item.key)));
  requireAllowed(options.by, incoming, tx);
  if (goingBack === undefined) requireClosed(context, tx, { incoming, drop: options.drop });
  requireRevisions(tx, blocks);
  requireMakers(tx, blocks, options);
  // Before the rest is judged: what goes gives back its hosts, and its files are no longer there to be read.
  const leftovers = dropLeftovers(tx, { blocks, kept, actor, now });
  const pruned = [...leftovers, ...prune(tx, { incoming, blocks, standing, options, kept, actor, now })];
  requireOwners(tx, blocks, options);
  const places = [...incoming.map(({ key }) => key), ...pruned, ...blocks.map(({ key }) => key)];
  if (goingBack === undefined && !options.dryRun) requireUnlocked(context, tx, places);
  const keys = incoming.map(({ key }) => key);
  const warnings = goingBack === undefined ? borrowed(tx, keys, { blocks, options }) : [];
  const lookups = { digest: digestLookup(context, incoming), findReferenced: freshReferenced(tx, incoming) };
  const ready = incoming.map((item) =>
    prepare(context, tx, { item, lookups, problems, isUndo: goingBack !== undefined }),
  );
  refuseFaulty(problems, conflictsOf(tx, ready));
  const watched = watchReaders(tx, keys);
  const puts = ready.map((item) => put(context, tx, { item, options, now }));
  if (pulled !== undefined)
    for (const { manifest } of puts) releaseMoved(context, tx, { manifest, pulled, author: options, now });
  const restamped = restampReaders(tx, {
    assets: puts.filter(({ manifest }) => manifest.kind === "asset").map(({ manifest }) => manifest),
    except: kept,
    lookup: lookups.digest,
    now,
    actor,
  });
  for (const result of [...puts, ...restamped]) releaseFor(context, tx, result, { now, goingBack, author: options });
  const rolled = rollReaders(context, tx, { watched, refuseLoss: true, actor, now });
  return {
    ...withRolled({ puts, restamped }, rolled),
    pruned,
    leftovers,
    findReferenced: lookups.findReferenced,
    blocks: putBlocks(tx, { blocks, actor, by: options.by, now }),
    warnings: [
      ...(options.dryRun ? lockWarnings(context, tx.locks, places) : []),
      ...warnings,
      ...lostReaderWarnings(tx.manifests, pruned),
      ...lostHostWarnings(tx, context.names, pruned),
    ],
  };
}

/** Readers whose generation was raised after they were put, or that are in no other way part of the apply. */
function withRolled(
  { puts, restamped }: { puts: PutResult[]; restamped: PutResult[] },
  rolled: readonly StoredManifest[],
): Pick<Outcome, "puts" | "readers"> {
  if (rolled.length === 0) return { puts, readers: restamped };
  const byRef = new Map(rolled.map((manifest) => [formatKey(manifest), manifest]));
  const raised = (result: PutResult): PutResult => {
    const manifest = byRef.get(formatKey(result.manifest));
    byRef.delete(formatKey(result.manifest));
    return manifest === undefined ? result : { ...result, manifest };
  };
  const known = { puts: puts.map(raised), readers: restamped.map(raised) };
  const others = [...byRef.values()].map((manifest): PutResult => ({
    manifest,
    outcome: "updated",
    previous: manifest,
  }));
  return { ...known, readers: [...known.readers, ...others] };
}

interface Preparation {
  item: Incoming;
  /** What this apply brings first, then what is stored. */
  lookups: { digest: AssetLookup; findReferenced: FindReferenced };
  problems: Problem[];
  isUndo: boolean;
}

/** What is to be put, and what it reserves. */
interface Ready extends Incoming, Reserving {}

/** Masks give way to the stored secrets, revisions are compared, digests stamped. */
function prepare(context: Context, tx: Transaction, { item, lookups, problems, isUndo }: Preparation): Ready {
  const stored = tx.manifests.get(item.key);
  const revision = stored?.revision ?? 0;
  if (item.ifRevision !== undefined && item.ifRevision !== revision) {
    const now = stored === undefined ? "it is not stored" : `it is at revision ${revision}`;
    throw revisionConflict(item.key, {
      place: item.place,
      message: `${formatKey(item.key)} was expected at revision ${item.ifRevision}, but ${now}; look again and re-apply`,
      revision,
    });
  }
  const spec = isUndo ? item.spec : routedSpec(context, item.key.kind, item.spec);
  const restored = restoreMasked(item.key.kind, spec, stored?.spec);
  const owner = { ...item.key, spec: restored.spec };
  const stamped = stampAssetDigests(owner, lookups.digest);
  const unreported = referenceProblems(owner, lookups.findReferenced, context.names);
  const beyond = capacityProblems(owner, { stored: stored?.spec, cpus: context.link.info()?.cpus });
  const circular = startCycles(owner, lookups.findReferenced);
  const found = [...restored.problems, ...stamped.problems, ...unreported, ...circular, ...beyond];
  problems.push(...problemsAt(item.place, found));
  const reserves = reservationsOf({ ...item.key, spec: stamped.spec });
  return { ...item, spec: stamped.spec, reserves, held: stored && reservationsOf(stored) };
}

/** Digests come from this apply first, then from what is stored. `scope` is "" for unscoped assets. */
function digestLookup(context: Context, incoming: Incoming[]): AssetLookup {
  const fresh = new Map(incoming.filter(({ asset }) => asset).map((item) => [formatKey(item.key), item.asset]));
  const stored = storedLookup(context);
  return (target) => {
    const asset = fresh.get(formatKey({ kind: "asset", scope: target.scope, name: target.name }));
    return asset === undefined ? stored(target) : fileOf(asset, target.key);
  };
}

/** Step 7 for one manifest. */
function put(
  context: Context,
  tx: Transaction,
  { item, options, now }: { item: Ready; options: ApplyOptions; now: number },
): PutResult {
  const { key, spec, asset } = item;
  const result = tx.manifests.put({ ...key, spec }, now);
  takeOverCount(tx, result);
  takeOverSleep(tx, result, { actor: options.actor, now });
  const deletion = tx.deletions.get(key);
  // Deleted and applied again before anything was torn down: what runs is taken back. A prune is finished first.
  if (deletion !== undefined && !deletion.prune) tx.deletions.remove(deletion);
  if (result.outcome === "unchanged") {
    const failed = context.progress.trouble(key) !== undefined || deletion !== undefined;
    if (failed) tx.manifests.touch(key);
    if (asset === undefined) return result;
  } else {
    index(tx, item, result.previous);
    recordVolumes(context, tx, { ...key, spec }, now);
    tx.events.append(
      {
        actor: options.actor,
        action: "manifest.apply",
        ...key,
        revision: result.manifest.revision,
        detail: {
          outcome: result.outcome,
          changed: changedPaths(result.previous?.spec ?? {}, spec).slice(0, 50),
          message: options.message,
          restored: options.restoring?.at,
        },
      },
      now,
    );
  }
  const revision = result.manifest.revision;
  const moved = asset !== undefined && putAsset(tx, key, { asset, revision, now });
  // A fetch that failed is tried again by the reconciler.
  if (moved) tx.manifests.touch(key);
  return result;
}

/** What other manifests may not take, and what this one reads; most changes change neither. */
function index(tx: Transaction, { key, spec, reserves, held }: Ready, previous: StoredManifest | undefined): void {
  if (!Bun.deepEquals(reserves, held)) tx.manifests.setReservations(key, reserves);
  const reads = dependenciesOf({ ...key, spec });
  const before = previous && dependenciesOf(previous);
  if (!Bun.deepEquals(reads, before)) tx.manifests.setDependencies(key, reads);
}
