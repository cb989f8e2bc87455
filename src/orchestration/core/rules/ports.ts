import { parsePort, portsClash, portTexts, tooManyPorts } from "../ports.ts";
import type { PortBinding } from "../workload.ts";
import { eachEntry, type Report } from "./rule.ts";

/** Ports in a spec, and the fixed host ports that allow one replica only. */
export function portRules(ports: readonly string[], wantedReplicas: number, report: Report): void {
  /** By port and protocol: a range has many. */
  const taken = new Map<string, { binding: PortBinding; path: string }[]>();
  const tooMany = tooManyPorts(ports);
  if (tooMany !== undefined) {
    report("spec.ports", tooMany);
    return;
  }
  const judge = (text: string, path: string): void => {
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
    const known = taken.get(`${hostPort}/${port.value.protocol}`) ?? [];
    const clash = known.find(({ binding }) => portsClash(binding, port.value));
    if (clash !== undefined) report(path, `host port ${hostPort} is already at ${clash.path}`);
    taken.set(`${hostPort}/${port.value.protocol}`, [...known, { binding: port.value, path }]);
  };
  eachEntry(ports, "spec.ports", (entry, path) => {
    for (const text of portTexts(entry)) judge(text, path);
  });
}
