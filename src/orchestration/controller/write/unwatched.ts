import { formatKey } from "../../api/manifest.ts";
import { decodeSpec } from "../../core/spec/decode.ts";
import type { DecodedPod } from "../../core/spec/pod.ts";
import type { PutResult } from "../../store/store.ts";
import { resolveStored } from "../desired/resolve.ts";
import { isLedTo } from "../rollout/guard.ts";
import type { Context } from "../state/context.ts";
import { isPodKind } from "../state/target.ts";

/** Warnings for fields that have no effect while the ingress does not lead to the resource. */
export function unwatched(context: Context, put: PutResult): string[] {
  const { kind, spec } = put.manifest;
  if (!isPodKind(kind)) return [];
  const pod = decodeSpec(kind, spec);
  return [...idleGuard(context, put, pod), ...idleCanary(context, put, pod), ...neverAsleep(context, put, pod)];
}

/**
 * The warning for a guard without requests to watch; empty when all is well. A first release is never watched, and its
 * ingress may come with it.
 */
function idleGuard(context: Context, put: PutResult, { rollout }: DecodedPod): string[] {
  const { manifest } = put;
  if (rollout.guard === undefined || hasVisitors(context, put)) return [];
  return [`rollout.guard: watches nothing, because this server's ingress does not lead to ${formatKey(manifest)}`];
}

function idleCanary(context: Context, put: PutResult, { rollout }: DecodedPod): string[] {
  const { manifest } = put;
  if (rollout.canary === undefined) return [];
  const { canary, strategyReason } = resolveStored(context, manifest).workload.rollout;
  if (canary === undefined) return [`rollout.canary: has no effect with strategy "recreate": ${strategyReason ?? ""}`];
  if (hasVisitors(context, put)) return uneven(context, put);
  const where = `this server's ingress does not lead to ${formatKey(manifest)}`;
  return [`rollout.canary: shares out no requests, because ${where}; its steps only wait`];
}

/** Requests are what tells whether it is in use. */
function neverAsleep(context: Context, put: PutResult, { sleep }: DecodedPod): string[] {
  const { manifest } = put;
  if (sleep === undefined || hasVisitors(context, put)) return [];
  const where = `this server's ingress does not lead to ${formatKey(manifest)}`;
  return [`wake: it never sleeps by itself, and requests do not wake it, because ${where}`];
}

/** How far the shares are from the weights, where replicas are not picked by these alone. */
const unevenPolicies: Readonly<Record<string, string>> = {
  least_conn: "the shares hold only under load",
  ip_hash: "the shares are those of client addresses",
};

function uneven({ store }: Context, { manifest: { scope, name } }: PutResult): string[] {
  return store.manifests.list({ kind: "ingress", scope }).flatMap((ingress) => {
    const { service, policy } = decodeSpec("ingress", ingress.spec);
    const effect = unevenPolicies[policy];
    if ((service ?? ingress.name) !== name || effect === undefined) return [];
    return [`rollout.canary: ${formatKey(ingress)} has lb.policy ${policy}, so ${effect}; use round_robin`];
  });
}

function hasVisitors(context: Context, { manifest, previous }: PutResult): boolean {
  const mayCome = context.trafficOf !== undefined && previous === undefined;
  return mayCome || isLedTo(context, manifest);
}
