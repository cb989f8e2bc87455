import { probeNames } from "../../api/kinds/defaults.ts";
import type { Probe, Probes } from "../../api/kinds/probe.ts";
import { headerRules } from "./headers.ts";
import { durationRule } from "./duration.ts";
import type { Report } from "./rule.ts";

export function probeRules(probes: Probes | undefined, path: string, report: Report): void {
  for (const name of probeNames) {
    const probe = probes?.[name];
    if (probe !== undefined) probeRule(probe, `${path}.${name}`, report);
  }
}

/** A path as a request line has it: plugins that route get it as well. */
export function requestPathOk(path: string): boolean {
  return /^\/[^\x00-\x20\x7f]*$/.test(path);
}

function probeRule(probe: Probe, path: string, report: Report): void {
  const actions = [probe.http_get, probe.tcp_socket, probe.exec].filter((action) => action !== undefined);
  if (actions.length !== 1) report(path, `needs exactly one of http_get, tcp_socket, exec; it has ${actions.length}`);
  if (probe.http_get !== undefined && !requestPathOk(probe.http_get.path)) {
    report(
      `${path}.http_get.path`,
      `"${probe.http_get.path}" must start with "/", without spaces and control characters`,
    );
  }
  headerRules(probe.http_get?.http_headers ?? {}, `${path}.http_get.http_headers`, report);
  if (probe.exec?.command.length === 0) report(`${path}.exec.command`, "must not be empty");
  durationRule(probe.initial_delay, `${path}.initial_delay`, { report });
  durationRule(probe.period, `${path}.period`, { report, aboveZero: true });
  durationRule(probe.timeout, `${path}.timeout`, { report, aboveZero: true });
}
