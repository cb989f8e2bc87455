import type { Init } from "../../api/kinds/init.ts";
import { scopeOk } from "../identity.ts";
import { noNetworkAliasRule } from "./network.ts";
import { commandRules, dockerOptionRules, imageRule, ulimitRules } from "./container.ts";
import { durationRule } from "./duration.ts";
import { resourceRules } from "./resources.ts";
import { eachEntry, type Report, reportRepeats } from "./rule.ts";

export function initRules(inits: readonly Init[], path: string, report: Report): void {
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
