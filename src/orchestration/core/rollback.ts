import type { Spec } from "../api/manifest.ts";
import { isFields, own } from "../../base/pure/fields.ts";

/**
 * Settings that no container is made from: how many run, how they are replaced, and who is notified. Fields of one group
 * depend on each other and are kept together. Not settings: `release`, whose commands belong to the image that they run
 * in, and the times of `rollout` that decide whether a release is good, which may be why one failed.
 */
const settings: readonly (readonly string[])[] = [
  ["replicas", "autoscale"],
  ["wake", "idle_after"],
  ["rollout.strategy"],
  ["rollout.max_surge", "rollout.max_unavailable"],
  ["rollout.drain"],
  ["rollout.canary", "rollout.keep"],
  ["rollout.auto_rollback"],
  ["on_deploy"],
  ["on_probe"],
  ["start_after"],
  ["backup"],
  ["pull"],
  ["keep_releases"],
];

/** How many rules of its kind a spec breaks. */
export type FaultCount = (spec: Spec) => number;

/**
 * The spec that a rollback stores: what containers are made from is as it was in `goal`, the settings are those of
 * `present`, the newest manifest that was accepted. A setting that does not fit the older containers, such as three
 * replicas on one fixed host port, goes back with them.
 */
export function rolledBackSpec(goal: Spec, present: Spec, faultsOf: FaultCount): Spec {
  const tolerated = faultsOf(goal);
  return settings.reduce((spec, group) => {
    const kept = group.reduce((made, path) => withSetting(made, path, present), spec);
    return kept === spec || faultsOf(kept) > tolerated ? spec : kept;
  }, goal);
}

/** `spec` with the value that `present` has at `path`; the same object where nothing differs. */
function withSetting(spec: Spec, path: string, present: Spec): Spec {
  const [block = "", field] = path.split(".");
  if (field === undefined) return withField(spec, block, own(present, block));
  const old = blockOf(spec, block);
  const fields = withField(old, field, own(blockOf(present, block), field));
  if (fields === old) return spec;
  return withField(spec, block, Object.keys(fields).length === 0 ? undefined : fields);
}

function withField(fields: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  if (JSON.stringify(own(fields, name)) === JSON.stringify(value)) return fields;
  const { [name]: _, ...rest } = fields;
  return value === undefined ? rest : { ...rest, [name]: value };
}

function blockOf(spec: Spec, name: string): Record<string, unknown> {
  const block = own(spec, name);
  return isFields(block) ? block : {};
}
