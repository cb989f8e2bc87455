import { formatKey, type StoredManifest } from "../api/manifest.ts";
import { volumeUses } from "../core/named-volumes.ts";
import { claimVolumeName } from "../core/naming.ts";
import { podOf } from "../core/spec/decode.ts";
import type { ResolvedWorkload } from "../core/workload.ts";
import { apply } from "./apply.ts";
import { resolveStored } from "./desired/resolve.ts";
import type { Caller, WantedApps } from "./rollout/drill-room.ts";
import { stepsOf } from "./rollout/release-step.ts";
import { namedVolumes } from "./rollout/volume-room.ts";
import type { Context } from "./state/context.ts";
import { isPodKind } from "./state/target.ts";
import type { ApplyOptions } from "./write/apply-change.ts";

type Tried = Parameters<NonNullable<ApplyOptions["onTried"]>>[0];

/** Deployments and statefulsets as an apply of the body would store them; nothing is stored. Fails as the apply would. */
export async function planRehearsal(context: Context, body: unknown, { by, actor }: Caller): Promise<WantedApps> {
  const found: Tried[] = [];
  const onTried = (tried: Tried) => void found.push(tried);
  await apply(context, body, { dryRun: true, prune: false, unbuilt: true, by, actor, onTried });
  const [wanted, apps]: [Map<string, One>, WantedApps["apps"]] = [new Map(), []];
  const left: WantedApps["left"] = [];
  for (const { outcome, children, unknown } of found) {
    left.push(...unknown);
    for (const { manifest } of outcome.puts) {
      const ref = formatKey(manifest);
      const why = isPodKind(manifest.kind)
        ? whyNot(manifest, children.get(ref))
        : "only deployments and statefulsets are rehearsed";
      if (why !== undefined) {
        left.push({ ref, why });
        continue;
      }
      const { workload, problems } = resolveStored(context, manifest, outcome.findReferenced);
      const refused = problems[0]?.message ?? (await lackingFile(context, workload));
      wanted.set(ref, { manifest, workload, refused });
      const { kind, scope, name } = manifest;
      const hasRelease = stepsOf(manifest).some(({ when }) => when === "before");
      apps.push({ kind, scope, name, hasRelease, volumes: mountedBy(context, manifest, workload) });
    }
  }
  return { wanted, apps, left };
}

interface One {
  manifest: StoredManifest;
  workload: ResolvedWorkload;
  refused: string | undefined;
}

/** Data of a database is in what its plugin backs up, not in copies of volumes. */
function whyNot(manifest: StoredManifest, block: string | undefined): string | undefined {
  const backup = podOf(manifest)?.backup;
  const isCopied = backup !== undefined && backup.volumes === undefined;
  if (block === undefined || manifest.kind !== "statefulset" || isCopied) return undefined;
  return `its data is of the block ${block}, of which there is no copy of a volume`;
}

/** A dry run writes no files of assets. */
async function lackingFile({ assets }: Context, { container }: ResolvedWorkload): Promise<string | undefined> {
  for (const { assetDigest, target } of container.mounts) {
    if (assetDigest === undefined || (await assets.verify(assetDigest)) === "ok") continue;
    return `the file of its asset at ${target} is not stored yet: apply the asset first`;
  }
  return undefined;
}

function mountedBy(context: Context, manifest: StoredManifest, workload: ResolvedWorkload) {
  const ordinals = [...Array(Math.max(1, workload.replicas)).keys()];
  const claims = workload.volumeClaims.flatMap(({ name: claim }) =>
    ordinals.map((ordinal) => {
      return { claim, ordinal, volume: claimVolumeName(context.names, workload, claim, ordinal) };
    }),
  );
  const named = namedVolumes(context, manifest, volumeUses(manifest));
  return [...claims, ...named.map(({ claim, ordinal, volume }) => ({ claim, ordinal, volume }))];
}
