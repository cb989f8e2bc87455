import type { Scalar } from "yaml";
import { interpolate, plainValue, type Variables } from "./interpolate.ts";

interface ScalarRules {
  variables: Variables | "kept";
  /** The value is an environment variable: it must be text. */
  environment: boolean;
  /** The file is JSON, where `1.0` is a number like any other. */
  json: boolean;
}

interface ScalarValue {
  value: unknown;
  /** `part` is the piece of the scalar that is wrong; the whole of it when absent. */
  problems: { part?: string; message: string }[];
}

/** The value of one scalar after interpolation, or why its text would not survive being read. */
export function readScalar(node: Scalar, rules: ScalarRules): ScalarValue {
  const { value } = node;
  if (typeof value === "string") return readText(value, node.type === "PLAIN", rules);
  const written = node.source ?? String(value);
  if (rules.environment) return { value, problems: [{ message: environmentProblem(value, written) }] };
  if (typeof value === "number" && !rules.json && String(value) !== written) {
    const way = Number.isSafeInteger(Math.round(value)) ? "" : "write a smaller number, or ";
    const message = `reads as the number ${value}, not as "${written}": ${way}put it in quotes to keep the text`;
    return { value, problems: [{ message }] };
  }
  return { value, problems: [] };
}

function readText(text: string, plain: boolean, rules: ScalarRules): ScalarValue {
  if (!text.includes("$")) return { value: text, problems: [] };
  const result = interpolate(text, rules.variables);
  const value = plain && result.whole && !rules.environment ? plainValue(result.text) : result.text;
  return { value, problems: result.problems };
}

function environmentProblem(value: unknown, written: string): string {
  if (value === null) return 'an environment variable needs a value: write "" for an empty one';
  const type = typeof value === "boolean" ? "boolean" : "number";
  return `environment variables are text and ${written} is a ${type} here: write "${written}"`;
}
