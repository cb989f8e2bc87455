import type { Problem } from "./failure.ts";
import { childPath } from "../pure/path.ts";

/** Keys that reach into the prototype of an object that they are copied into. */
const forbiddenKeys = new Set(["__proto__", "constructor", "prototype"]);

/**
 * What must not appear anywhere in JSON from outside: forbidden keys, NUL, broken Unicode, nesting beyond `depthMax`.
 * The good case walks the value once and builds no paths.
 */
export function safetyProblems(value: unknown, path: string, depthMax: number): Problem[] {
  if (isSafe(value, depthMax)) return [];
  const problems: Problem[] = [];
  collect(value, path, depthMax, problems);
  return problems;
}

function isSafe(value: unknown, depthLeft: number): boolean {
  if (typeof value === "string") return textFault(value) === undefined;
  if (typeof value !== "object" || value === null) return true;
  if (depthLeft === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isSafe(item, depthLeft - 1));
  return Object.keys(value).every(
    (key) => keyFault(key) === undefined && isSafe(Reflect.get(value, key), depthLeft - 1),
  );
}

function collect(value: unknown, path: string, depthLeft: number, problems: Problem[]): void {
  const report = (message: string, at = path) => problems.push({ path: at, message });
  if (typeof value === "string") {
    const fault = textFault(value);
    if (fault !== undefined) report(fault);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (depthLeft === 0) {
    report("is nested too deeply");
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, childPath(path, index), depthLeft - 1, problems);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    const fault = keyFault(key);
    if (fault === undefined) collect(item, childPath(path, key), depthLeft - 1, problems);
    else report(fault, childPath(path, key));
  }
}

function keyFault(key: string): string | undefined {
  return forbiddenKeys.has(key) ? `the key "${key}" is not allowed` : textFault(key);
}

function textFault(text: string): string | undefined {
  if (text.includes("\0")) return "holds a NUL character; embed binary content as base64";
  return text.isWellFormed() ? undefined : "is not valid Unicode";
}
