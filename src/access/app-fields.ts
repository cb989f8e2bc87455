import { canonicalJson } from "../base/pure/digest.ts";
import { isFields } from "../base/pure/fields.ts";
import { fieldsWithin } from "../orchestration/api/kinds/container.ts";
import { type AppLimit, mayReach, reachesAll } from "./apps.ts";

/** What runs inside of an app and reaches nothing beyond it. Whatever is not in the list, and all of a later version, is not allowed. */
const innerFields: readonly string[] = [
  ...fieldsWithin("app"),
  ...["replicas", "restart", "rollout", "probes", "health_check", "start_after", "backup", "job"],
  ...["schedule", "timezone", "suspend", "concurrency_policy", "starting_deadline"],
  ...["successful_history_limit", "failed_history_limit", "timeout", "backoff_limit"],
];

const innerKinds: readonly string[] = ["deployment", "statefulset", "job", "cronjob", "app"];

/**
 * Why a token that is limited to apps may not apply a body; undefined where it may. It may change what runs inside of
 * its apps. What leads out of them is for tokens without a limit: volumes, networks, hosts, options of the engine, config
 * of other apps. The platform reports what is wrong with anything that is not a manifest.
 */
export function applyFault(limit: AppLimit, body: unknown, prune: boolean): string | undefined {
  if (reachesAll(limit)) return undefined;
  if (prune) return "this token is limited to apps, so it may not prune: that deletes others of the same kind";
  for (const manifest of Array.isArray(body) ? body : [body]) {
    const fault = isFields(manifest) ? manifestFault(limit, manifest) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function manifestFault(limit: AppLimit, manifest: Record<string, unknown>): string | undefined {
  const { kind, scope, name, spec } = manifest;
  const ref = `${String(kind)}/${String(scope)}/${String(name)}`;
  const isReached = typeof scope === "string" && typeof name === "string" && mayReach(limit, { scope, name });
  if (!isReached) return outOfReach(ref);
  if (!innerKinds.some((known) => known === kind)) {
    return `${ref}: this token is limited to apps, so it may apply only ${innerKinds.join(", ")}`;
  }
  return isFields(spec) ? refusedField(ref, specFault(spec)) : undefined;
}

/** What a plugin wants to change for a caller. */
export interface PlaceChange {
  scope: string;
  name: string;
  /** Left out for a bucket of config, which is of every kind. */
  kind?: string;
  /** It is of the block that the caller named, and reaches. */
  isOwn: boolean;
  /** The spec of a manifest that is applied, as it will be stored; `stands` is what is stored now. */
  spec?: Record<string, unknown> | undefined;
  stands?: Record<string, unknown> | undefined;
}

/**
 * Why a caller that is limited to apps may not have this changed; undefined where it may. A plugin changes for it what is
 * in its apps, and what is of its block; of a manifest only what the caller may apply itself, and what stands already.
 */
export function changeFault(limit: AppLimit, change: PlaceChange): string | undefined {
  if (reachesAll(limit)) return undefined;
  const { kind, scope, name, isOwn, spec, stands } = change;
  const place = `${scope}/${name}`;
  if (!isOwn && !mayReach(limit, { scope, name: name || "*" })) return outOfReach(place);
  if (kind === undefined) return undefined;
  const ref = `${kind}/${place}`;
  const isInner = innerKinds.includes(kind);
  if (!isInner && !(isOwn && stands !== undefined)) {
    return `${ref}: this token is limited to apps, so it may change only ${innerKinds.join(", ")}`;
  }
  return spec === undefined ? undefined : refusedField(ref, specFault(differing(spec, stands ?? {})));
}

function outOfReach(ref: string): string {
  return `${ref} is out of reach of this token, which is limited to apps`;
}

function refusedField(ref: string, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `${ref}: this token is limited to apps, so it may not apply ${fault}`;
}

/** The fields that stand otherwise, or not at all. */
function differing(wanted: Record<string, unknown>, stands: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(wanted).filter(([field, value]) => !isSame(value, stands[field]));
  const { job } = stands;
  return Object.fromEntries(
    fields.map(([field, value]) =>
      field === "job" && isFields(value) && isFields(job) ? [field, differing(value, job)] : [field, value],
    ),
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return other !== undefined && canonicalJson(one) === canonicalJson(other);
}

function specFault(spec: Record<string, unknown>): string | undefined {
  const outer = Object.keys(spec).find((field) => !innerFields.includes(field));
  if (outer !== undefined) return `the field ${outer}, which reaches beyond them`;
  if (isFields(spec.job)) return specFault(spec.job);
  const { job: _, ...rest } = spec;
  const reference = /\$\{\s*(?:ref|asset)\./.test(JSON.stringify(rest));
  return reference ? "references to other resources" : undefined;
}
