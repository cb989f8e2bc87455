import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, type StoredManifest } from "../../api/manifest.ts";
import type { Condition } from "../../api/describe.ts";
import { isJobKind } from "../../core/resolve-job.ts";
import type { BlockRecord } from "../../store/plugin-records.ts";
import { strandedText } from "../state/makers.ts";
import { resolveBlock, wireBlock } from "../write/blocks.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { byIdentity, podRecord } from "../pods/pods.ts";
import { withRuns } from "../runs/job-status.ts";
import { wireRelease } from "../rollout/releases.ts";
import { isPodKind, resolveTarget } from "../state/target.ts";
import { canaryView } from "../rollout/canary-view.ts";
import { claimVolumes } from "../desired/volumes.ts";
import { hintsOf } from "./recent-deaths.ts";
import { shownManifest } from "../state/shown-manifest.ts";

/** GET /describe. What cannot be collected is named in `errors`; manifest and status always come. */
export async function describe(context: Context, target: Target) {
  const block = resolveBlock(context, target);
  if (block !== undefined) return describeBlock(context, block);
  const key = resolveTarget(context.store.manifests, target);
  const manifest = context.store.manifests.get(key);
  if (manifest === undefined) throw new Failure("not_found", `${formatKey(key)} not found`);
  const errors: string[] = [];
  await collect(errors, "pods", async () => {
    context.link.require();
    await context.pods.refresh(key);
  });
  const owner = context.store.blocks.ownerOf(key);
  const hints = await hintsOf(context, key);
  const volumes = key.kind === "statefulset" ? await volumesOf(context, key, errors) : undefined;
  return {
    manifest: shownManifest(manifest),
    status: withReleases(context, key, statusNow(context, manifest)),
    pods: context.pods
      .of(key)
      .sort(byIdentity)
      .map((pod) => podRecord(context, pod)),
    ...(volumes === undefined ? {} : { volumes }),
    ...(owner === undefined ? {} : { block: formatKey(owner) }),
    ...(hints.length > 0 ? { hints } : {}),
    ...(errors.length > 0 ? { errors } : {}),
  };
}

/** A block, and how what it was expanded into is. */
async function describeBlock(context: Context, block: BlockRecord) {
  const children = context.store.blocks.children(block);
  const errors: string[] = [];
  await collect(errors, "pods", async () => {
    context.link.require();
    for (const key of children) await context.pods.refresh(key);
  });
  const volumes = children.flatMap((key) => context.store.volumes.list(key).map(({ volume }) => volume));
  return {
    manifest: wireBlock(block),
    status: blockStatus(context, block),
    pods: children.flatMap((key) => [...context.pods.of(key)].sort(byIdentity)).map((pod) => podRecord(context, pod)),
    ...(volumes.length > 0 ? { volumes: volumes.sort() } : {}),
    ...(errors.length > 0 ? { errors } : {}),
  };
}

/** Who expanded a block, and how what it became is. */
export function blockStatus(context: Context, block: BlockRecord): Record<string, unknown> {
  const { plugin, version, origin, source, warnings = [] } = block;
  const stranded = strandedText(context, block);
  const told = warnings.length > 0 ? { warnings } : {};
  return {
    plugin,
    version,
    origin,
    ...(source === "" ? {} : { source }),
    ...(stranded === undefined ? {} : { stranded }),
    ...told,
    children: context.store.blocks.children(block).map((key) => childStatus(context, key)),
  };
}

function childStatus(context: Context, key: ManifestKey): { ref: string; phase?: unknown } {
  const manifest = context.store.manifests.get(key);
  const phase = (manifest && servedNow(context, manifest).phase) ?? context.notes.status(key)?.phase;
  return { ref: formatKey(key), ...(phase === undefined ? {} : { phase }) };
}

function withReleases(context: Context, key: ManifestKey, status: Record<string, unknown> | null) {
  if (!isPodKind(key.kind)) return status;
  const canary = canaryView(context, key);
  return {
    ...status,
    ...(canary === undefined ? {} : { canary }),
    releases: context.store.releases.list(key).map((release) => wireRelease(context, release)),
  };
}

/** Runs `read` and notes what went wrong instead of passing it on. */
async function collect(errors: string[], what: string, read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (error) {
    errors.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function volumesOf(context: Context, key: ManifestKey, errors: string[]): Promise<string[]> {
  const names = new Set(context.store.volumes.list(key).map(({ volume }) => volume));
  await collect(errors, "volumes", async () => {
    context.link.require();
    for (const name of await claimVolumes(context, key)) names.add(name);
  });
  return [...names].sort();
}

/** An ingress is as the proxy has it now; a round stores only what it stands for. */
function servedNow({ ingressServed }: Context, manifest: StoredManifest): { phase?: string } {
  const served = manifest.kind === "ingress" ? ingressServed?.(manifest) : undefined;
  if (served === undefined) return {};
  const { phase, why } = served;
  return { phase, ...(why === undefined ? {} : { last_reconcile_error: why }) };
}

/** The stored status; while the engine is away that stands in front of whatever was true before. */
export function statusNow(context: Context, key: StoredManifest): Record<string, unknown> | null {
  const stored = context.notes.status(key) ?? null;
  const known = isJobKind(key.kind) ? withRuns(context, key, stored) : stored;
  const marked = context.store.deletions.get(key) === undefined ? known : { ...known, deleting: true };
  if (!isPodKind(key.kind)) return marked && { ...marked, ...servedNow(context, key) };
  const frozenIds = context.store.frozen.list(key);
  const status = frozenIds.length === 0 ? marked : { ...marked, frozen_ids: frozenIds };
  if (context.link.up()) return status;
  const conditions: Condition[] = Array.isArray(stored?.conditions) ? stored.conditions : [];
  const before = conditions.find(({ type, status: holds }) => type === "Degraded" && holds);
  const cause = before?.message === undefined ? "" : `; before that: ${before.reason}: ${before.message}`;
  const away: Condition = {
    type: "Degraded",
    status: true,
    reason: "EngineUnavailable",
    message: `the container engine cannot be reached: ${context.link.error() ?? "unknown error"}${cause}`,
    at: isoTime(context.link.since()),
  };
  const others = conditions.filter((condition: Condition) => condition.type !== "Degraded");
  return { ...status, conditions: [...others, away] };
}
