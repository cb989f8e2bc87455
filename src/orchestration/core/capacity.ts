import type { Problem } from "../../base/wire/failure.ts";
import type { CoreKind, Spec } from "../api/manifest.ts";
import { containerOf } from "./spec/decode.ts";

interface Machine {
  /** The spec before; what it has already is not refused again, perhaps the machine has become smaller. */
  stored: Spec | undefined;
  /** Undefined while the engine was never asked. */
  cpus: number | undefined;
}

/** Limits that no container of this machine can have: the engine refuses to make one. */
export function capacityProblems({ kind, spec }: { kind: CoreKind; spec: Spec }, { stored, cpus }: Machine): Problem[] {
  if (cpus === undefined) return [];
  const beyond = cpuLimits(kind, spec).filter(({ nanoCpus }) => nanoCpus > cpus * 1e9);
  if (beyond.length === 0) return [];
  const known = new Set(stored === undefined ? [] : cpuLimits(kind, stored).map(({ text }) => text));
  return beyond.flatMap(({ path, text }) => {
    if (known.has(text)) return [];
    return [{ path, message: `"${text}" is more than the ${cpus} CPUs of this machine` }];
  });
}

interface CpuLimit {
  path: string;
  text: string;
  nanoCpus: number;
}

function cpuLimits(kind: CoreKind, spec: Spec): CpuLimit[] {
  const found = containerOf(kind, spec);
  if (found === undefined) return [];
  const inits = found.container.inits.map((init, index) => ({ of: init, at: `${found.path}.inits[${index}]` }));
  return [{ of: found.container, at: found.path }, ...inits].flatMap(({ of: { limits }, at }) => {
    const { cpu, nanoCpus } = limits;
    if (cpu === undefined || nanoCpus === undefined) return [];
    return [{ path: `${at}.resources.limits.cpu`, text: cpu, nanoCpus }];
  });
}
