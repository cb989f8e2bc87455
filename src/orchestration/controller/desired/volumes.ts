import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import { claimVolumeName, type Naming } from "../../core/naming.ts";
import type { ResolvedWorkload } from "../../core/workload.ts";
import type { Context } from "../state/context.ts";

/**
 * The claim volumes of one ordinal, made when it starts for the first time. A volume that was made once and is gone
 * is a fault: an empty one in its place would look like data that was lost silently.
 */
export async function ensureClaims(context: Context, workload: ResolvedWorkload, ordinal: number): Promise<void> {
  for (const claim of workload.volumeClaims) await ensureClaim(context, workload, { claim: claim.name, ordinal });
}

interface Claim {
  claim: string;
  ordinal: number;
}

async function ensureClaim(context: Context, workload: ResolvedWorkload, { claim, ordinal }: Claim): Promise<void> {
  const { engine, store, names } = context;
  const volume = claimVolumeName(names, workload, claim, ordinal);
  const known = store.volumes.get(volume);
  if (known !== undefined && (await engine.inspectVolume(volume)) === undefined) {
    const way = wayToCopy(context, { ...keyOf(workload), claim, ordinal });
    const empty = `berth delete ${workload.scope}/${workload.name}.${ordinal} --prune --no-backup`;
    const text = `volume "${volume}" was made for this pod and is gone${way}, or start empty with ${empty}`;
    throw new Failure("conflict", text, { reason: "VolumeMissing" });
  }
  context.volumeHolds.refuse(volume);
  await engine.ensureVolume(volume, claimLabels(names, workload, { claim, ordinal }));
  if (known !== undefined) return;
  const { kind, scope, name } = workload;
  const record = { kind, scope, name, volume, claim, ordinal, createdAt: context.clock.now() };
  await store.write((tx) => tx.volumes.put(record));
}

/** What the volume of a claim carries. */
export function claimLabels(
  { label }: Naming,
  { kind, scope, name }: ManifestKey,
  { claim, ordinal }: Claim,
): Record<string, string> {
  return {
    [label.kind]: kind,
    [label.scope]: scope,
    [label.name]: name,
    [label.claim]: claim,
    [label.replicaOrdinal]: String(ordinal),
  };
}

/**
 * Volumes of a resource that the engine has: those that carry our labels, and those we made once that somebody has
 * brought back without labels. Those of another installation are not ours, whatever their name.
 */
export async function claimVolumes(context: Context, key: ManifestKey): Promise<string[]> {
  const { engine, store, names } = context;
  const { label } = names;
  const labels = { [label.installation]: store.installationId, [label.scope]: key.scope, [label.name]: key.name };
  const found = new Set((await engine.listVolumes(labels)).map(({ name }) => name));
  for (const { volume } of store.volumes.list(key)) {
    const known = found.has(volume) ? undefined : await engine.inspectVolume(volume);
    if (known !== undefined && known.labels[label.installation] === undefined) found.add(volume);
  }
  return [...found].sort();
}

/** How the data of a volume that is gone comes back, as the middle of a sentence. A target may hold a newer copy than is known. */
export function wayToCopy(
  { newestCopy, store }: Pick<Context, "newestCopy"> & { store: Pick<Context["store"], "blocks"> },
  volume: ManifestKey & { claim: string; ordinal: number | undefined },
): string {
  const at = newestCopy?.(volume);
  const restore = `berth backup restore ${volume.scope}/${volume.name}`;
  if (store.blocks.ownerOf(volume) !== undefined && volume.ordinal !== undefined)
    return `; a target or the volume of its backups may have a backup: bring back the newest with ${restore}`;
  if (at === undefined) return "; this server knows of no copy of it: berth backup list asks the targets";
  return `; bring back its copy of ${isoTime(at)} with ${restore}`;
}
