import type { PodFields } from "../../api/kinds/pod.ts";
import { parseRestartPolicy } from "../restart-policy.ts";
import { containerRules } from "./container.ts";
import { webhookRules } from "./webhooks.ts";
import { initRules } from "./inits.ts";
import { portRules } from "./ports.ts";
import { probeRules } from "./probes.ts";
import { rolloutRules } from "./rollout.ts";
import { eachEntry, type RuleContext } from "./rule.ts";
import { parseStartAfter } from "../spec/pod.ts";

/** Rules of the fields that deployments and statefulsets share. `wanted`: the most replicas the spec asks for. */
export function podRules(spec: PodFields, wanted: number, { report, limits }: RuleContext): void {
  containerRules(spec, "spec", { report, limits });
  if (spec.replicas !== undefined && spec.replicas > limits.replicasMax) {
    report("spec.replicas", `must be at most ${limits.replicasMax}, got ${spec.replicas}`);
  }
  portRules(spec.ports ?? [], wanted, report);
  if (spec.restart !== undefined && parseRestartPolicy(spec.restart) === undefined) {
    const form = '"no", "always", "unless-stopped", "on-failure" or "on-failure:3"';
    report("spec.restart", `"${spec.restart}" is not a restart policy; write ${form}`);
  }
  eachEntry(spec.start_after ?? [], "spec.start_after", (entry, path) => {
    if (parseStartAfter(entry) !== undefined) return;
    report(path, `"${entry}" names no app of this scope; write "name", or "name:started" to wait only for its start`);
  });
  rolloutRules(spec.rollout ?? {}, report);
  probeRules(spec.probes, "spec.probes", report);
  webhookRules(spec.on_probe ?? {}, "spec.on_probe", report);
  initRules(spec.inits ?? [], "spec.inits", report);
}
