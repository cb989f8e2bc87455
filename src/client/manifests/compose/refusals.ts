import { isFields } from "../../../base/pure/fields.ts";
import type { ValidationLimits } from "../../../orchestration/core/rules/rule.ts";
import { checkManifests } from "../check.ts";
import type { Difference } from "./report.ts";
import { fileOf, hasMarks, partsOf } from "../kept.ts";
import { plainValue } from "../interpolate.ts";

/** A value with its variables replaced by their defaults, or by 1: to see whether the server would take it. */
function sampleOf(value: unknown, field = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => sampleOf(item));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, sampleOf(item, key)]));
  }
  if (typeof value !== "string" || !hasMarks(value)) return value;
  if (fileOf(value) !== undefined) return { _source: "file", content: "" };
  const { parts } = partsOf(value);
  const texts = parts.map((part) => (part.type === "characters" ? part.text : sampleText(part.inner)));
  return numbers.includes(field) ? plainValue(texts.join("")) : texts.join("");
}

/** Fields of what is imported that are numbers. */
const numbers = ["replicas", "failure_threshold", "max_files"];

function sampleText(inner: string): string {
  if (/^(?:asset|ref)\./.test(inner)) return `\${${inner}}`;
  const at = inner.indexOf(":-");
  return at === -1 ? "1" : inner.slice(at + 2);
}

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
