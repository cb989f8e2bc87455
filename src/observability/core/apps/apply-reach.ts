import { isFields } from "../../../base/pure/fields.ts";
import { type Grant, mayReach, reachesAll } from "../tokens/grant.ts";

/** What runs inside of an app and reaches nothing beyond it. Whatever is not in the list, and all of a later version, is not allowed. */
const innerFields: readonly string[] = [
  "image",
  "build",
  "pull",
  "entrypoint",
  "command",
  "env",
  "telemetry",
  "resources",
  "logs",
  "stop_grace",
  "stop_signal",
  "replicas",
  "restart",
  "rollout",
  "probes",
  "health_check",
  "schedule",
  "timezone",
  "suspend",
  "concurrency_policy",
  "starting_deadline",
  "successful_history_limit",
  "failed_history_limit",
  "timeout",
  "backoff_limit",
  "job",
];

const innerKinds: readonly string[] = ["deployment", "statefulset", "job", "cronjob", "app"];

/**
 * Why a token that is limited to apps may not apply a body; undefined where it may. It may change what runs inside of
 * its apps. What leads out of them is for tokens without a limit: volumes, networks, hosts, options of the engine, config
 * of other apps. Anything that is no manifest is left to the platform, which tells what is wrong with it.
 */
export function applyFault(grant: Pick<Grant, "apps">, body: unknown, prune: boolean): string | undefined {
  if (reachesAll(grant)) return undefined;
  if (prune) return "this token is limited to apps, so it may not prune: that deletes others of the same kind";
  for (const manifest of Array.isArray(body) ? body : [body]) {
    const fault = isFields(manifest) ? manifestFault(grant, manifest) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function manifestFault(grant: Pick<Grant, "apps">, manifest: Record<string, unknown>): string | undefined {
  const { kind, scope, name, spec } = manifest;
  const ref = `${String(kind)}/${String(scope)}/${String(name)}`;
  const isReached = typeof scope === "string" && typeof name === "string" && mayReach(grant, { scope, name });
  if (!isReached) return `${ref} is out of reach of this token, which is limited to apps`;
  if (!innerKinds.some((known) => known === kind)) {
    return `${ref}: this token is limited to apps, so it may apply only ${innerKinds.join(", ")}`;
  }
  const fault = isFields(spec) ? specFault(spec) : undefined;
  return fault === undefined ? undefined : `${ref}: this token is limited to apps, so it may not apply ${fault}`;
}

function specFault(spec: Record<string, unknown>): string | undefined {
  const outer = Object.keys(spec).find((field) => !innerFields.includes(field));
  if (outer !== undefined) return `the field ${outer}, which reaches beyond them`;
  if (isFields(spec.job)) return specFault(spec.job);
  const { job: _, ...rest } = spec;
  const reference = /\$\{\s*(?:ref|asset)\./.test(JSON.stringify(rest));
  return reference ? "references to other resources" : undefined;
}
