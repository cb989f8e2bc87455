import type { ManifestKey } from "../../api/manifest.ts";
import { containerName } from "../../core/naming.ts";
import type { Context } from "../state/context.ts";
import { readinessOf } from "../state/observe.ts";
import { isPodKind } from "../state/target.ts";

/**
 * Names of a block's pods that should be ready and are not, those that are missing included. What an operator has stopped
 * is wanted so.
 */
export function unreadyPods(context: Context, block: ManifestKey): string[] {
  return context.store.blocks
    .children(block)
    .filter(({ kind }) => isPodKind(kind))
    .flatMap((child) => unreadyOf(context, child));
}

/**
 * Whether a pod of the block is ready or ever was. One that is still coming up for the first time is not down; what runs it
 * for the first time tells how that goes.
 */
export function hasServed(context: Context, block: ManifestKey): boolean {
  return context.store.blocks
    .children(block)
    .filter(({ kind }) => isPodKind(kind))
    .some((child) => {
      const isGood = context.store.releases.list(child).some(({ good }) => good);
      return isGood || context.pods.of(child).some((pod) => readinessOf(context, pod).ready);
    });
}

function unreadyOf(context: Context, key: ManifestKey): string[] {
  const frozen = context.store.frozen.list(key);
  const pods = context.pods.of(key).filter(({ role, replicaId }) => role === undefined && !frozen.includes(replicaId));
  const unready = pods.filter((pod) => !readinessOf(context, pod).ready).map(({ name }) => name);
  return [...new Set([...unready, ...missing(context, key, [...frozen, ...pods.map(({ replicaId }) => replicaId)])])];
}

/** Replicas of a statefulset have their places; those of a deployment are counted from what is there. */
function missing({ notes }: Context, key: ManifestKey, there: readonly string[]): string[] {
  if (key.kind !== "statefulset") return [];
  const { replicas = 0 } = notes.look(key) ?? {};
  return Array.from({ length: replicas }, (_, ordinal) => String(ordinal))
    .filter((id) => !there.includes(id))
    .map((id) => containerName(key.scope, key.name, id));
}
