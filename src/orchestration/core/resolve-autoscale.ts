import type { Spec } from "../api/manifest.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { fieldsOf, integerOf, textOf } from "./lenient.ts";

/** The `autoscale` block of a deployment, defaults filled in. */
export interface AutoscalePolicy {
  min: number;
  max: number;
  /** Wanted mean CPU use, in percent of the limit. */
  cpuTarget: number;
  cooldownUpMs: number;
  cooldownDownMs: number;
}

/** Undefined where a spec has no such block, or one that cannot be read. */
export function autoscalePolicy(spec: Spec): AutoscalePolicy | undefined {
  const block = fieldsOf(spec.autoscale);
  const [min, max, cpuTarget] = [integerOf(block.min), integerOf(block.max), integerOf(block.cpu_target)];
  if (min === undefined || max === undefined || cpuTarget === undefined) return undefined;
  return {
    min,
    max,
    cpuTarget,
    cooldownUpMs: parseDuration(textOf(block.cooldown_up) ?? "") ?? 30_000,
    cooldownDownMs: parseDuration(textOf(block.cooldown_down) ?? "") ?? 300_000,
  };
}
