import { parsePort, portsClash } from "../ports.ts";
import type { PortBinding } from "../workload.ts";
import { eachEntry, type Report } from "./rule.ts";

/** Ports in a spec, and the fixed host ports that allow one replica only. */
export function portRules(ports: readonly string[], wantedReplicas: number, report: Report): void {
  const taken: { binding: PortBinding; path: string }[] = [];
  eachEntry(ports, "spec.ports", (text, path) => {
    const port = parsePort(text);
    if (!port.ok) {
      report(path, port.error);
      return;
    }
    const { hostPort, containerPort } = port.value;
    if (hostPort === undefined) return;
    if (wantedReplicas > 1) {
      report(
        path,
        `host port ${hostPort} is fixed, so only one of ${wantedReplicas} replicas could hold it; ` +
          `write "${containerPort}" for a free port each, or run one replica`,
      );
    }
    const clash = taken.find(({ binding }) => portsClash(binding, port.value));
    if (clash !== undefined) report(path, `host port ${hostPort} is already at ${clash.path}`);
    taken.push({ binding: port.value, path });
  });
}
