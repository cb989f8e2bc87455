import type { ContainerFields } from "../../api/kinds/container.ts";
import { parseDockerOptions } from "../docker-options.ts";
import type { Report } from "./rule.ts";

const networkPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/;
/** The engine's own: they are modes, or give no names to containers. */
const reserved = ["host", "none", "bridge", "default"];

/** Only deployments and statefulsets have names on a network: for any other container the option would have no effect. */
export function noNetworkAliasRule(options: readonly string[] | undefined, path: string, report: Report): void {
  if (!hasNetworkAliases(options)) return;
  report(path, `"--network-alias" is only for deployments and statefulsets: other pods cannot look this container up`);
}

function hasNetworkAliases(options: readonly string[] = []): boolean {
  return parseDockerOptions(options, "").options.networkAliases !== undefined;
}

export function networkRules(spec: ContainerFields, path: string, report: Report): void {
  const named = (spec.networks ?? []).map((name, index) => ({ name, path: `${path}.networks[${index}]` }));
  if (spec.network) named.push({ name: spec.network, path: `${path}.network` });
  const mode = spec.network_mode ?? "";
  if ((mode === "host" || mode === "none") && named.length > 0) {
    report(`${path}.network_mode`, `"${mode}" excludes networks; keep one of the two`);
  }
  if ((mode === "host" || mode === "none") && spec.telemetry === true) {
    report(`${path}.telemetry`, `needs network_mode "bridge": the server knows its senders by their address there`);
  }
  if ((mode === "host" || mode === "none") && hasNetworkAliases(spec.docker_options)) {
    report(`${path}.docker_options`, `"--network-alias" needs network_mode "bridge"; remove one of the two`);
  }
  for (const network of named) {
    if (reserved.includes(network.name)) {
      report(
        network.path,
        `"${network.name}" is a mode of the engine; use network_mode, or name a network of your own`,
      );
    } else if (!networkPattern.test(network.name)) {
      report(network.path, `"${network.name}" is not a network name; use letters, digits, ".", "_" and "-"`);
    }
  }
}
