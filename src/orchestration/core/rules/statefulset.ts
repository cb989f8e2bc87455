import type { StatefulsetSpec } from "../../api/kinds/statefulset.ts";
import { backupRules } from "./backup.ts";
import { podRules } from "./pod.ts";
import type { RuleContext } from "./rule.ts";
import { claimRules } from "./volumes.ts";

export function statefulsetRules(spec: StatefulsetSpec, context: RuleContext): void {
  const { report } = context;
  podRules(spec, spec.replicas ?? 1, context);
  if (!spec.image && spec.build === undefined) report("spec.image", "is required for a statefulset");
  if ((spec.rollout?.max_surge ?? 0) > 0) {
    report("spec.rollout.max_surge", "does not apply to a statefulset; an ordinal never runs twice, leave it out");
  }
  if (spec.rollout?.canary !== undefined) {
    report("spec.rollout.canary", "does not apply to a statefulset; an ordinal never runs twice, leave it out");
  }
  backupRules(spec, context);
  claimRules(spec.volume_claims ?? [], spec.volumes ?? [], report);
}
