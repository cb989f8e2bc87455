import { Failure } from "../../../base/wire/failure.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import { stopGently } from "../state/pod.ts";
import type { Context } from "../state/context.ts";
import { required } from "../state/target.ts";
import { requireUnlocked } from "../state/locks.ts";

/** With an ordinal: one statefulset pod is removed, with prune its volumes too, and made again. */
export async function rebootstrap(
  context: Context,
  target: { scope: string | undefined; name: string | undefined; ordinal: string },
  options: { prune: boolean; actor: string },
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
    if (pod.state === "running") await stopGently(context.engine, pod);
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
