import type { Resources } from "../../api/kinds/resources.ts";
import { parseCpu, parseMemory } from "../../../base/pure/quantity.ts";
import type { Report } from "./rule.ts";
import { bytesRule } from "./size.ts";

/** The engine refuses less. */
const memoryMinBytes = 6 * 1024 * 1024;
const nanoCpusMin = 10_000_000;
/** More than any machine has. */
const cpusMax = 10_000;

export function resourceRules(resources: Resources | undefined, path: string, report: Report): void {
  const { cpu, memory } = resources?.limits ?? {};
  if (cpu !== undefined) cpuRule(cpu, `${path}.limits.cpu`, report);
  if (memory !== undefined) memoryRule(memory, `${path}.limits.memory`, report);
}

function cpuRule(text: string, path: string, report: Report): void {
  const nanoCpus = parseCpu(text);
  if (nanoCpus === undefined) report(path, `"${text}" is not a CPU quantity; write "1.5" or "500m"`);
  else if (nanoCpus < nanoCpusMin) report(path, `"${text}" is below the smallest limit, "10m"`);
  else if (nanoCpus > cpusMax * 1e9) report(path, `"${text}" is above the largest limit, "${cpusMax}"`);
}

function memoryRule(text: string, path: string, report: Report): void {
  const bytes = parseMemory(text);
  if (bytes === undefined) report(path, `"${text}" is not a memory quantity; write "512Mi", "1.5Gi" or bytes`);
  else if (bytes < memoryMinBytes) report(path, `"${text}" is below the smallest limit, "6Mi"`);
  else bytesRule(bytes, { text, path, report });
}
