import { fileOf, hasMarks, partsOf } from "../kept.ts";
import { plainValue } from "../interpolate.ts";

/** A value with its variables replaced by their defaults, or by 1: to see whether the server would take it. */
export function sampleOf(value: unknown, field = ""): unknown {
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
