import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import type { deleteResource as deleteResourceEndpoint } from "../../api/resource.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { PruneSummary } from "../../api/apply.ts";
import { parseKind } from "../../core/kind.ts";
import { deleteBlockInside, resolveBlock } from "./blocks.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { deleteInside } from "./delete-inside.ts";
import { lostReaderWarnings } from "../desired/asset-readers.ts";
import { leftoverKeys } from "./leftovers.ts";
import { ambiguousScope, isContainerKind, required, resolveTarget, targetKind } from "../state/target.ts";
import { emptySummary } from "../rollout/tear-down.ts";
import { requireUnlocked } from "./locks.ts";
import { lostHostWarnings } from "../views/uses.ts";

interface DeleteOptions {
  prune: boolean;
  /** Of a block: what it was expanded into stays, and belongs to nobody. */
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

/** Read before the delete: afterwards nobody knows. */
function warningsOf({ store, names }: Context, keys: readonly ManifestKey[]): { warnings?: string[] } {
  const warnings = [...lostReaderWarnings(store.manifests, keys), ...lostHostWarnings(store, names, keys)];
  return warnings.length > 0 ? { warnings } : {};
}

/** What goes with the blocks of a batch. */
function childrenOf({ store }: Context, { blocks = [], options }: Batch): ManifestKey[] {
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
    resources_wiped: wiped.map(({ key, pruned }) => ({ kind: key.kind, pruned })),
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
    resources_wiped: wiped.map(({ key, pruned }) => ({ kind: key.kind, name: key.name, pruned })),
    scope_config_wiped: configWiped,
    ...warnings,
    errors: wiped.flatMap(({ pruned }) => pruned.errors),
  };
}

/** What is stored, and with prune what others left that were deleted before. */
async function withLeftovers(
  context: Context,
  where: { scope: string; name?: string },
  { prune }: DeleteOptions,
): Promise<ManifestKey[]> {
  const left = prune ? await leftoverKeys(context, { kind: undefined, name: undefined, ...where }) : [];
  return [...context.store.manifests.list(where).map(keyOf), ...left];
}

async function wipeScopeConfig(context: Context, scope: string, actor: string): Promise<boolean> {
  return context.store.write((tx) => {
    const wiped = tx.config.wipe(scope, "");
    if (wiped) tx.events.append({ actor, action: "config.wipe", scope }, context.clock.now());
    return wiped;
  });
}

interface Batch {
  keys: ManifestKey[];
  /** Each goes with what it was expanded into. */
  blocks?: ManifestKey[];
  options: DeleteOptions;
  why: string;
}

/** One transaction for all, then the tear-down of each, waited for only with prune. */
async function deleteAll(
  context: Context,
  { keys, blocks = [], options, why }: Batch,
): Promise<{ key: ManifestKey; pruned: PruneSummary }[]> {
  const { prune, actor, keepChildren = false } = options;
  const children = childrenOf(context, { keys, blocks, options, why });
  const waiting = new Map(prune ? [...keys, ...children].map((key) => [formatKey(key), waitFor(context, key)]) : []);
  const rows = await context.store.write((tx) => {
    requireUnlocked(context, tx, [...keys, ...blocks, ...children]);
    const now = context.clock.now();
    const own = blocks.flatMap((block) => [
      ...deleteBlockInside(tx, { block, prune, keepChildren, actor, why, now }),
      { key: block, configWiped: false },
    ]);
    const done = new Set(own.map(({ key }) => formatKey(key)));
    const rest = keys.filter((key) => !done.has(formatKey(key)));
    return [...rest.map((key) => ({ key, ...deleteInside(tx, { key, prune, actor, why, now }) })), ...own];
  });
  for (const { key } of rows) if (!blocks.includes(key)) context.enqueue(key);
  return Promise.all(
    rows.map(async ({ key, configWiped }) => {
      const torn = (await waiting.get(formatKey(key))) ?? emptySummary();
      return { key, pruned: { ...torn, config_wiped: configWiped } };
    }),
  );
}

function waitFor({ tearDown }: Context, key: ManifestKey): Promise<PruneSummary> | undefined {
  return isContainerKind(key.kind) ? tearDown.wait(key) : undefined;
}

/** With an ordinal: one statefulset pod is removed, with prune its volumes too, and made again. */
async function rebootstrap(
  context: Context,
  target: { scope: string | undefined; name: string | undefined; ordinal: string },
  options: DeleteOptions,
) {
  const scope = required(target.scope, "scope");
  const name = required(target.name, "name");
  if (!/^\d{1,6}$/.test(target.ordinal)) {
    throw new Failure("invalid", `ordinal: expected a whole number, got "${target.ordinal}"`);
  }
  const ordinal = Number(target.ordinal);
  const key = { kind: "statefulset", scope, name };
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) {
    throw new Failure(
      "not_found",
      `no statefulset "${scope}/${name}"; only statefulsets have pods to delete one by one`,
    );
  }
  const { replicas } = decodeSpec("statefulset", manifest.spec);
  if (ordinal >= replicas) {
    throw new Failure(
      "not_found",
      `statefulset "${scope}/${name}" has ${replicas} replicas; there is no ordinal ${ordinal}`,
    );
  }
  requireUnlocked(context, context.store, [key]);
  context.link.require();
  const summary = await removeOrdinal(context, { key, ordinal, prune: options.prune });
  await context.store.write((tx) => {
    tx.frozen.remove(key, String(ordinal));
    tx.manifests.touch(key);
    const detail = { ordinal, prune: options.prune, ...summary };
    tx.events.append({ actor: options.actor, action: "pod.rebootstrap", ...key, detail }, context.clock.now());
  });
  context.enqueue(key);
  return { scope, name, ordinal, action: "rebootstrap" as const, summary };
}

interface Removing {
  key: ManifestKey;
  ordinal: number;
  prune: boolean;
}

/** The reconciler would make the pod again, on the old volumes, the moment its container is gone. */
async function removeOrdinal(context: Context, removing: Removing) {
  const release = context.progress.hold(removing.key, String(removing.ordinal), "being recreated");
  try {
    const container_removed = await removePod(context, removing);
    return { container_removed, ...(await removeVolumes(context, removing)) };
  } finally {
    release();
    context.enqueue(removing.key);
  }
}

async function removePod(context: Context, { key, ordinal }: Removing): Promise<boolean> {
  const pods = (await context.pods.refresh(key)).filter((pod) => pod.ordinal === ordinal);
  for (const pod of pods) {
    if (pod.state === "running") await context.engine.stopGently(pod);
    await context.engine.remove(pod);
  }
  return pods.length > 0;
}

async function removeVolumes(context: Context, { key, ordinal, prune }: Removing) {
  const summary = { volumes_removed: [] as string[], errors: [] as string[] };
  if (!prune) return summary;
  for (const { volume } of context.store.volumes.list(key).filter((record) => record.ordinal === ordinal)) {
    try {
      await context.engine.removeVolume(volume);
      await context.store.write((tx) => tx.volumes.remove(volume));
      summary.volumes_removed.push(volume);
    } catch (error) {
      summary.errors.push(`volume ${volume}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return summary;
}
