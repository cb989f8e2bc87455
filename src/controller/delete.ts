import { Failure } from "../api/failure.ts";
import type { ManifestKey } from "../api/manifest.ts";
import type { PruneSummary } from "../api/orchestration/apply.ts";
import type { Transaction } from "../store/store.ts";
import type { Context } from "./context.ts";
import type { Target } from "./controller.ts";
import { tellReaders } from "./referents.ts";
import { stopGently } from "./stop.ts";
import { isContainerKind, required, resolveTarget } from "./target.ts";
import { emptySummary, type TearDown } from "./tear-down.ts";

export interface DeleteOptions {
  prune: boolean;
  actor: string;
}

interface Deleting {
  key: ManifestKey;
  prune: boolean;
  actor: string;
  why: string;
  now: number;
}

/**
 * Removes a manifest inside a transaction and leaves a delete mark where containers have to go: the reconciler
 * finishes from the mark, also after a crash. Returns whether a config bucket was wiped.
 */
export function deleteInside(tx: Transaction, { key, prune, actor, why, now }: Deleting): { configWiped: boolean } {
  tx.manifests.delete(key);
  tellReaders(tx, key);
  if (isContainerKind(key.kind)) {
    // A prune that is not worked off yet stays owed.
    const owed = tx.deletions.get(key)?.prune === true;
    tx.deletions.put({ kind: key.kind, scope: key.scope, name: key.name, at: now, prune: prune || owed });
  }
  const configWiped = prune && tx.config.wipe(key.scope, key.name);
  tx.events.append(
    { actor, action: "manifest.delete", kind: key.kind, scope: key.scope, name: key.name, detail: { why, prune } },
    now,
  );
  return { configWiped };
}

/** DELETE /apply. */
export async function deleteManifest(
  context: Context,
  tearDown: TearDown,
  { target, options }: { target: Target; options: DeleteOptions },
): Promise<{ pruned: PruneSummary }> {
  const key = resolveTarget(context.store.manifests, target);
  const [pruned] = await deleteAll(context, tearDown, { keys: [key], options, why: "deleted by name" });
  return { pruned: pruned?.pruned ?? emptySummary() };
}

/** DELETE /resource without an ordinal: every kind stored under (scope, name). */
export async function deleteResource(
  context: Context,
  tearDown: TearDown,
  { scope, name, options }: { scope: string | undefined; name: string | undefined; options: DeleteOptions },
) {
  const where = { scope: required(scope, "scope"), name: required(name, "name") };
  const keys = context.store.manifests.list(where);
  if (keys.length === 0) throw new Failure("not_found", `nothing is stored under "${where.scope}/${where.name}"`);
  const wiped = await deleteAll(context, tearDown, { keys, options, why: "resource deleted" });
  return {
    ...where,
    resources_wiped: wiped.map(({ key, pruned }) => ({ kind: key.kind, pruned })),
    errors: wiped.flatMap(({ pruned }) => pruned.errors),
  };
}

/** DELETE /scope. The scope's own bucket goes only with prune. */
export async function deleteScope(
  context: Context,
  tearDown: TearDown,
  { scope, options }: { scope: string | undefined; options: DeleteOptions },
) {
  const where = required(scope, "scope");
  const keys = context.store.manifests.list({ scope: where });
  const wiped = await deleteAll(context, tearDown, { keys, options, why: "scope deleted" });
  const configWiped = options.prune && (await wipeScopeConfig(context, where, options.actor));
  return {
    scope: where,
    resources_wiped: wiped.map(({ key, pruned }) => ({ kind: key.kind, name: key.name, pruned })),
    scope_config_wiped: configWiped,
    errors: wiped.flatMap(({ pruned }) => pruned.errors),
  };
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
  options: DeleteOptions;
  why: string;
}

/** One transaction for all, then the tear-down of each, waited for only with prune. */
async function deleteAll(
  context: Context,
  tearDown: TearDown,
  { keys, options, why }: Batch,
): Promise<{ key: ManifestKey; pruned: PruneSummary }[]> {
  const { prune, actor } = options;
  const waiting = prune ? keys.map((key) => (isContainerKind(key.kind) ? tearDown.wait(key) : undefined)) : [];
  const wiped = await context.store.write((tx) => {
    const now = context.clock.now();
    return keys.map((key) => deleteInside(tx, { key, prune, actor, why, now }));
  });
  for (const key of keys) context.enqueue(key);
  return Promise.all(
    keys.map(async (key, index) => {
      const summary = emptySummary();
      summary.config_wiped = wiped[index]?.configWiped ?? false;
      const torn = await waiting[index];
      return { key, pruned: torn === undefined ? summary : { ...torn, config_wiped: summary.config_wiped } };
    }),
  );
}

/** DELETE /resource with an ordinal: one statefulset pod is removed, with prune its volumes too, and made again. */
export async function rebootstrap(
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
  const replicas = typeof manifest.spec.replicas === "number" ? manifest.spec.replicas : 1;
  if (ordinal >= replicas) {
    throw new Failure(
      "not_found",
      `statefulset "${scope}/${name}" has ${replicas} replicas; there is no ordinal ${ordinal}`,
    );
  }
  context.engine.require();
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
  const release = context.progress.hold(removing.key, String(removing.ordinal));
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
    if (pod.state === "running") await stopGently(context, pod.id);
    await context.runtime.remove(pod.id);
  }
  return pods.length > 0;
}

async function removeVolumes(context: Context, { key, ordinal, prune }: Removing) {
  const summary = { volumes_removed: [] as string[], errors: [] as string[] };
  if (!prune) return summary;
  for (const { volume } of context.store.volumes.list(key).filter((record) => record.ordinal === ordinal)) {
    try {
      await context.runtime.removeVolume(volume);
      await context.store.write((tx) => tx.volumes.remove(volume));
      summary.volumes_removed.push(volume);
    } catch (error) {
      summary.errors.push(`volume ${volume}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return summary;
}
