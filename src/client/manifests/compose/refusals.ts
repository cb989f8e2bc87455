import { isFields } from "../../../base/pure/fields.ts";
import type { ValidationLimits } from "../../../orchestration/core/rules/rule.ts";
import { checkManifests } from "../check.ts";
import type { Difference } from "./report.ts";
import { sampleOf } from "./sample.ts";

/** What the server would reject; that is not known for a value that a variable decides. */
export function refusals(
  manifests: readonly Record<string, unknown>[],
  validation: ValidationLimits,
  place: string,
): Difference[] {
  const samples = manifests.map((manifest) => sampleOf(manifest));
  return checkManifests(samples, validation).problems.flatMap((problem): Difference[] => {
    const manifest = manifests[(problem.manifest ?? 1) - 1] ?? {};
    if (isOpen(valueAt(manifest, problem.path))) return [];
    const path = `${manifest.kind} ${manifest.name}: ${problem.path}`;
    return [{ place, path, message: `the server will refuse this: ${problem.message}`, level: "change" }];
  });
}

function valueAt(manifest: unknown, path: string): unknown {
  let value = manifest;
  for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (Array.isArray(value) && index !== undefined) value = value[Number(index)];
    else if (isFields(value) && key !== undefined && Object.hasOwn(value, key)) value = value[key];
    else return value;
  }
  return value;
}

/** Whether a variable without a default is in it. */
function isOpen(value: unknown): boolean {
  return typeof value === "string" && /\uE000(?!asset\.|ref\.)\w+\uE001/.test(value);
}
