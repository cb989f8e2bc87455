import type { Problem } from "../../base/wire/failure.ts";
import type { CoreKind, Spec } from "../api/manifest.ts";
import { containerFieldsOf } from "./container-fields.ts";
import { fieldsOf, listOf, textOf } from "./lenient.ts";
import { parseCpu } from "../../base/pure/quantity.ts";

interface Machine {
  /** The spec before; what it has already is not refused again, perhaps the machine has become smaller. */
  stored: Spec | undefined;
  /** Undefined while the engine was never asked. */
  cpus: number | undefined;
}

/** Limits that no container of this machine can have: the engine refuses to make one. */
export function machineProblems({ kind, spec }: { kind: CoreKind; spec: Spec }, { stored, cpus }: Machine): Problem[] {
  if (cpus === undefined) return [];
  const known = new Set(stored === undefined ? [] : cpuLimits(kind, stored).map(({ text }) => text));
  return cpuLimits(kind, spec).flatMap(({ path, text }) => {
    const nanoCpus = parseCpu(text);
    if (nanoCpus === undefined || nanoCpus <= cpus * 1e9 || known.has(text)) return [];
    return [{ path, message: `"${text}" is more than the ${cpus} CPUs of this machine` }];
  });
}

function cpuLimits(kind: CoreKind, spec: Spec): { path: string; text: string }[] {
  const { fields, path } = containerFieldsOf(kind, spec);
  const inits = listOf(fields.inits).map((init, index) => ({ of: init, at: `${path}.inits[${index}]` }));
  return [{ of: fields, at: path }, ...inits].flatMap(({ of, at }) => {
    const text = textOf(fieldsOf(fieldsOf(of.resources).limits).cpu);
    return text === undefined ? [] : [{ path: `${at}.resources.limits.cpu`, text }];
  });
}
