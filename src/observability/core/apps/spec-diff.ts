import { isFields } from "../../../base/pure/fields.ts";

interface SpecChange {
  /** Dotted, from the spec: `env.LOG_LEVEL`. */
  path: string;
  before?: unknown;
  after?: unknown;
}

/** What is another in the second spec, in the order of the paths. Lists are compared as a whole. */
export function specDiff(before: unknown, after: unknown, path = ""): SpecChange[] {
  if (isFields(before) && isFields(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => specDiff(before[name], after[name], path === "" ? name : `${path}.${name}`));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}
