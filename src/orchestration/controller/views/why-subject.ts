import { Failure } from "../../../base/wire/failure.ts";
import { type CoreKind, type ManifestKey, podKinds } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { notStored, resolvePodTarget, resolveTarget, targetKind } from "../state/target.ts";

/** What else can be asked about, in this order. */
const otherKinds: readonly CoreKind[] = ["job", "cronjob", "ingress"];

/**
 * What a question is about: a stored deployment or statefulset, one of which only deaths are left, or a stored job, cron
 * job or ingress. With no kind given the former come first.
 */
export function subjectOf(context: Context, target: Target): ManifestKey {
  const kind = target.kind ? targetKind(target.kind) : undefined;
  if (otherKinds.some((one) => one === kind)) return resolveTarget(context.store.manifests, target);
  try {
    const { kind: found, scope, name } = resolvePodTarget(context.store.manifests, target);
    return { kind: found, scope, name };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "not_found") throw error;
    return (
      (kind === undefined ? otherOf(context, target) : undefined) ??
      deadOne(context, target, kind) ??
      refuse(context, target, kind)
    );
  }
}

/** Fails `invalid` where several scopes have one. */
function otherOf({ store }: Context, target: Target): ManifestKey | undefined {
  const { name, scope } = target;
  const filter = { ...(name ? { name } : {}), ...(scope ? { scope } : {}) };
  const kind = otherKinds.find((one) => store.manifests.list({ kind: one, ...filter }).length > 0);
  return kind === undefined ? undefined : resolveTarget(store.manifests, { ...target, kind });
}

function deadOne({ store }: Context, { scope = "", name = "" }: Target, kind?: string): ManifestKey | undefined {
  const kinds = kind === undefined ? podKinds : [kind];
  return kinds.map((one) => ({ kind: one, scope, name })).find((key) => store.deaths.list(key).length > 0);
}

function refuse({ store }: Context, { scope, name = "" }: Target, kind: string | undefined): never {
  throw notStored(store.manifests, kind === undefined ? [...podKinds, ...otherKinds] : [kind], { scope, name });
}
