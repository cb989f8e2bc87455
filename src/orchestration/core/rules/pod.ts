import type { PodFields } from "../../api/kinds/pod.ts";
import { parseRestartPolicy } from "../restart-policy.ts";
import { commandRules, containerRules, dockerOptionRules, imageRule, ulimitRules } from "./container.ts";
import { webhookRules } from "./webhooks.ts";
import { portRules } from "./ports.ts";
import { probeRules } from "./probes.ts";
import { rolloutRules } from "./rollout.ts";
import { eachEntry, type Report, reportRepeats, type RuleContext } from "./rule.ts";
import { parseStartAfter } from "../spec/pod.ts";
import type { Init } from "../../api/kinds/init.ts";
import { scopeOk } from "../identity.ts";
import { noNetworkAliasRule } from "./network.ts";
import { durationRule } from "./duration.ts";
import { resourceRules } from "./resources.ts";

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
  const { length } = spec.start_after ?? [];
  if (length > limits.startAfterMax)
    report("spec.start_after", `has ${length} entries; at most ${limits.startAfterMax} are allowed`);
  eachEntry(spec.start_after ?? [], "spec.start_after", (entry, path) => {
    if (parseStartAfter(entry) !== undefined) return;
    report(path, `"${entry}" names no app of this scope; write "name", or "name:started" to wait only for its start`);
  });
  rolloutRules(spec.rollout ?? {}, report);
  probeRules(spec.probes, "spec.probes", report);
  webhookRules(spec.on_probe ?? {}, "spec.on_probe", report);
  initRules(spec.inits ?? [], "spec.inits", report);
}

function initRules(inits: readonly Init[], path: string, report: Report): void {
  eachEntry(inits, path, (init, initPath) => initRule(init, initPath, report));
  const named = inits.map(({ name }, index) => ({ key: name, path: `${path}[${index}].name` }));
  reportRepeats(named, "init name", report);
}

function initRule(init: Init, path: string, report: Report): void {
  if (!scopeOk(init.name)) {
    report(`${path}.name`, `"${init.name}" is not an init name; use 1 to 40 lower-case letters, digits and "-"`);
  }
  if (init.command.length === 0) report(`${path}.command`, "must not be empty");
  commandRules(init.command, `${path}.command`, report);
  imageRule(init.image, `${path}.image`, report);
  durationRule(init.timeout, `${path}.timeout`, { report, aboveZero: true });
  resourceRules(init.resources, `${path}.resources`, report);
  ulimitRules(init.ulimits ?? {}, `${path}.ulimits`, report);
  dockerOptionRules(init.docker_options ?? [], `${path}.docker_options`, report);
  noNetworkAliasRule(init.docker_options, `${path}.docker_options`, report);
}
