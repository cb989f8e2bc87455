import { MASK } from "./mask.ts";

/** A pod record without the values of its environment, and of the manifest that is attached to it. */
export function withoutEnv<T extends object>(pod: T): T {
  return hide(pod, 0) as T;
}

/** Specs nest templates of pods a few levels deep. */
const depthMax = 12;

function hide(value: unknown, depth: number): unknown {
  if (depth > depthMax) return undefined;
  if (Array.isArray(value)) return value.map((item) => hide(item, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [
    name,
    name === "env" ? masked(field) : hide(field, depth + 1),
  ]);
  return Object.fromEntries(fields);
}

/** A map of names to values, or a list of `NAME=value`; a value that names a source instead holds no secret. */
function masked(env: unknown): unknown {
  if (Array.isArray(env)) return env.map((item) => (typeof item === "string" ? nameOf(item) : hide(item, 1)));
  if (typeof env !== "object" || env === null) return env;
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, typeof value === "object" ? value : MASK]),
  );
}

function nameOf(entry: string): string {
  const end = entry.indexOf("=");
  return end < 0 ? entry : `${entry.slice(0, end)}=${MASK}`;
}
