import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import type { deleteResource as deleteResourceEndpoint } from "../../api/resource.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { PruneSummary } from "../../api/apply.ts";
import { parseKind } from "../../core/kind.ts";
import { deleteBlockInside, resolveBlock } from "./blocks.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { rebootstrap } from "./delete-ordinal.ts";
import type { Context, ExpectedTearDown } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { deleteInside } from "./delete-inside.ts";
import { lostReaderWarnings } from "../desired/asset-readers.ts";
import { type LeftKey, leftoverKeys } from "./leftovers.ts";
import { ambiguousScope, isContainerKind, required, resolveTarget, targetKind } from "../state/target.ts";
import { emptySummary } from "../rollout/tear-down.ts";
import { requireUnlocked } from "../state/locks.ts";
import { lostHostWarnings } from "./uses.ts";

interface DeleteOptions {
  prune: boolean;
  /** For a block: what it was expanded into stays, and belongs to no block. */
  keepChildren?: boolean;
  actor: string;
}

/** DELETE /apply. */
export async function deleteManifest(
  context: Context,
  target: Target,
  options: DeleteOptions,
): Promise<{ pruned: PruneSummary; deleted?: string[]; warnings?: string[] }> {
  const why = "deleted by name";
  const block = resolveBlock(context, target);
  if (block === undefined) {
    const key = await resolveDeleted(context, target, options);
    if (parseKind(target.kind ?? "") === "app") return deleteSeveral({ keys: partsOfApp(context, key), options, why });
    const warnings = warningsOf(context, [key]);
    const [row] = await deleteAll(context, { keys: [key], options, why });
    return { pruned: row?.pruned ?? emptySummary(), ...warnings };
  }
  return deleteSeveral({ keys: [], blocks: [keyOf(block)], options, why });

  async function deleteSeveral(batch: Batch) {
    const warnings = warningsOf(context, [...batch.keys, ...childrenOf(context, batch)]);
    const rows = await deleteAll(context, batch);
    return {
      pruned: merged(rows.map(({ pruned }) => pruned)),
      deleted: rows.map(({ key }) => formatKey(key)),
      ...warnings,
    };
  }
}

/** Read before the delete: afterwards it is lost. */
function warningsOf({ store, names }: Context, keys: readonly ManifestKey[]): { warnings?: string[] } {
  const warnings = [...lostReaderWarnings(store.manifests, keys), ...lostHostWarnings(store, names, keys)];
  return warnings.length > 0 ? { warnings } : {};
}

/** What goes with the blocks of a batch. */
function childrenOf({ store }: { store: Pick<Store, "blocks"> }, { blocks = [], options }: Batch): ManifestKey[] {
  return options.keepChildren === true ? [] : blocks.flatMap((block) => store.blocks.children(block));
}

/** What is stored; with prune also what was deleted before and left something behind. */
async function resolveDeleted(context: Context, target: Target, { prune }: DeleteOptions): Promise<ManifestKey> {
  try {
    return resolveTarget(context.store.manifests, target);
  } catch (error) {
    if (!prune || !(error instanceof Failure) || error.code !== "not_found") throw error;
    const kind = targetKind(target.kind);
    const left = await leftoverKeys(context, { ...target, kind });
    const [key] = left;
    if (key === undefined) throw error;
    if (left.length > 1) throw ambiguousScope(kind, key.name, left);
    return key;
  }
}

/** An app is a deployment and, with a host, an ingress of its name. */
function partsOfApp({ store }: Context, deployment: ManifestKey): ManifestKey[] {
  const ingress = { ...deployment, kind: "ingress" };
  return store.manifests.get(ingress) === undefined ? [deployment] : [deployment, ingress];
}

/** What became of a block is what became of all that it was expanded into. */
function merged(summaries: readonly PruneSummary[]): PruneSummary {
  return {
    config_wiped: summaries.some((it) => it.config_wiped),
    app_dir_removed: summaries.some((it) => it.app_dir_removed),
    volume_removed: summaries.some((it) => it.volume_removed),
    volumes_removed: summaries.flatMap((it) => it.volumes_removed),
    ...keptOf(summaries.flatMap((it) => it.volumes_kept ?? [])),
    errors: summaries.flatMap((it) => it.errors),
  };
}

function keptOf(kept: string[]): Pick<PruneSummary, "volumes_kept"> {
  return kept.length > 0 ? { volumes_kept: kept } : {};
}

/** DELETE /resource. */
export async function deleteResource(
  context: Context,
  { ordinal, ...target }: { scope: string | undefined; name: string | undefined; ordinal: string | undefined },
  options: DeleteOptions,
): Promise<DataOf<typeof deleteResourceEndpoint>> {
  return ordinal === undefined
    ? deleteKinds(context, target, options)
    : rebootstrap(context, { ...target, ordinal }, options);
}

/** Without an ordinal: every kind stored under (scope, name). */
async function deleteKinds(
  context: Context,
  { scope, name }: { scope: string | undefined; name: string | undefined },
  options: DeleteOptions,
) {
  const where = { scope: required(scope, "scope"), name: required(name, "name") };
  const blocks = context.store.blocks.list(where).map(keyOf);
  const keys = await withLeftovers(context, where, options);
  if (keys.length + blocks.length === 0) {
    throw new Failure("not_found", `nothing is stored under "${where.scope}/${where.name}"`);
  }
  const batch = { keys, blocks, options, why: "resource deleted" };
  const warnings = warningsOf(context, [...keys, ...childrenOf(context, batch)]);
  const wiped = await deleteAll(context, batch);
  return {
    ...where,
    resources_wiped: wiped.map(({ key, pruned }) => ({ kind: key.called ?? key.kind, pruned })),
    ...warnings,
    errors: wiped.flatMap(({ pruned }) => pruned.errors),
  };
}

/** DELETE /scope. The scope's own bucket goes only with prune. */
export async function deleteScope(context: Context, scope: string | undefined, options: DeleteOptions) {
  const where = required(scope, "scope");
  requireUnlocked(context, context.store, [{ scope: where }]);
  const keys = await withLeftovers(context, { scope: where }, options);
  const blocks = context.store.blocks.list({ scope: where }).map(keyOf);
  const batch = { keys, blocks, options, why: "scope deleted" };
  const warnings = warningsOf(context, [...keys, ...childrenOf(context, batch)]);
  const wiped = await deleteAll(context, batch);
  const configWiped = options.prune && (await wipeScopeConfig(context, where, options.actor));
  return {
    scope: where,
    resources_wiped: wiped.map(({ key, pruned }) => ({ kind: key.called ?? key.kind, name: key.name, pruned })),
    scope_config_wiped: configWiped,
    ...warnings,
    errors: wiped.flatMap(({ pruned }) => pruned.errors),
  };
}

/**
 * What is stored, and with prune what others left that were deleted before. Looking for that takes a while: what
 * another delete takes away meanwhile is still meant.
 */
async function withLeftovers(
  context: Context,
  where: { scope: string; name?: string },
  { prune }: DeleteOptions,
): Promise<LeftKey[]> {
  const stored = () => context.store.manifests.list(where).map(keyOf);
  if (!prune) return stored();
  const before = stored();
  const left = await leftoverKeys(context, { kind: undefined, name: undefined, ...where });
  return [...new Map([...stored(), ...before, ...left].map((key) => [formatKey(key), key])).values()];
}

async function wipeScopeConfig(context: Context, scope: string, actor: string): Promise<boolean> {
  return context.store.write((tx) => {
    const wiped = tx.config.wipe(scope, "");
    if (wiped) tx.events.append({ actor, action: "config.wipe", scope }, context.clock.now());
    return wiped;
  });
}

interface Batch {
  keys: LeftKey[];
  /** Each goes with what it was expanded into. */
  blocks?: ManifestKey[];
  options: DeleteOptions;
  why: string;
}

/** One transaction for all, then the tear-down of each, waited for only with prune. */
async function deleteAll(context: Context, batch: Batch): Promise<{ key: LeftKey; pruned: PruneSummary }[]> {
  const { blocks = [], options } = batch;
  const expected = new Map<string, ExpectedTearDown>();
  const rows = await context.store
    .write((tx) => {
      const removed = removeInside(context, tx, batch);
      const waited = options.prune ? removed.filter(({ key }) => isContainerKind(key.kind)) : [];
      for (const { key } of waited) expected.set(formatKey(key), context.tearDown.expect(key));
      return removed;
    })
    .catch((error) => {
      for (const tearDown of expected.values()) tearDown.forget();
      throw error;
    });
  for (const { key } of rows) if (!blocks.includes(key)) context.enqueue(key);
  return Promise.all(
    rows.map(async ({ key, configWiped }) => {
      const torn = (await expected.get(formatKey(key))?.summary()) ?? emptySummary();
      return { key, pruned: { ...torn, config_wiped: configWiped } };
    }),
  );
}

function removeInside(context: Context, tx: Transaction, batch: Batch): { key: LeftKey; configWiped: boolean }[] {
  const { keys, blocks = [], options, why } = batch;
  const { prune, actor, keepChildren = false } = options;
  requireUnlocked(context, tx, [...keys, ...blocks, ...childrenOf({ store: tx }, batch)]);
  const now = context.clock.now();
  const own = blocks.flatMap((block) => [
    ...deleteBlockInside(tx, { block, prune, keepChildren, actor, why, now }),
    { key: block, configWiped: false },
  ]);
  const done = new Set(own.map(({ key }) => formatKey(key)));
  const rest = keys.filter((key) => !done.has(formatKey(key)));
  return [...rest.map((key) => ({ key, ...deleteInside(tx, { key, prune, actor, why, now }) })), ...own];
}
