import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure, type Problem, problemsFailure } from "../../../base/wire/failure.ts";
import { formatKey, type StoredManifest } from "../../api/manifest.ts";
import { podDefaults } from "../../api/kinds/defaults.ts";
import type { scale as scaleEndpoint } from "../../api/scale.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import type { DecodedPod } from "../../core/spec/pod.ts";
import { portRules } from "../../core/rules/ports.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { requireUnlocked } from "../state/locks.ts";
import { required, resolvePodTarget } from "../state/target.ts";
import { resolveStored } from "../desired/resolve.ts";
import { isAsleep, putToSleep, wake } from "../state/sleep-changes.ts";

/** POST /scale: the count of the manifest. What its containers are made from stays, so this is not a release. */
export async function scale(
  context: Context,
  target: Target & { replicas: string | undefined },
  { actor }: { actor: string },
): Promise<DataOf<typeof scaleEndpoint>> {
  const { kind, scope, name } = resolvePodTarget(context.store.manifests, target);
  const key = { kind, scope, name };
  const replicas = countOf(target.replicas, context.limits.replicasMax);
  return context.store.write((tx) => {
    const stored = tx.manifests.get(key);
    if (stored === undefined) throw new Failure("not_found", `${formatKey(key)} not found`);
    requireUnlocked(context, tx, [key]);
    const now = context.clock.now();
    const pod = decodeSpec(kind, stored.spec);
    const slept = isAsleep({ store: tx }, stored);
    if (replicas === 0 && pod.sleep !== undefined) {
      const { replicas: running } = resolveStored(context, stored).workload;
      putToSleep(tx, key, { actor, why: "scaled to 0", now });
      return { ...key, replicas, previous: running, revision: stored.revision };
    }
    refuseScale(stored, pod, replicas);
    wake(tx, key, { actor, why: `scaled to ${replicas}`, now });
    const written = pod.writtenReplicas ?? podDefaults.replicas;
    const previous = slept ? 0 : written;
    if (written === replicas) return { ...key, replicas, previous, revision: stored.revision };
    const { manifest } = tx.manifests.put({ ...key, spec: { ...stored.spec, replicas } }, now);
    const { revision } = manifest;
    tx.events.append({ actor, action: "scale", ...key, revision, detail: { from: written, to: replicas } }, now);
    return { ...key, replicas, previous, revision };
  });
}

function countOf(text: string | undefined, most: number): number {
  const written = required(text, "replicas");
  const count = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
  if (count <= most) return count;
  throw new Failure("invalid", `replicas "${written}" is not a whole number from 0 to ${most}`);
}

function refuseScale(stored: StoredManifest, { autoscale: policy, ports }: DecodedPod, replicas: number): void {
  if (policy !== undefined) {
    throw new Failure(
      "conflict",
      `${formatKey(stored)} is scaled by its autoscaler, from ${policy.min} to ${policy.max}; ` +
        "change autoscale.min and autoscale.max, or apply it with replicas instead",
    );
  }
  const problems: Problem[] = [];
  const texts = ports.map(({ text }) => text);
  portRules(texts, replicas, (path, message) => problems.push({ path, message }));
  if (problems.length > 0) throw problemsFailure(problems);
}
