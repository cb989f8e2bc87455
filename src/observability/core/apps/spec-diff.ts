interface SpecChange {
  /** Dotted, from the spec: `env.LOG_LEVEL`. */
  path: string;
  before?: unknown;
  after?: unknown;
}

/** What is another in the second spec, in the order of the paths. Lists are compared as a whole. */
export function specDiff(before: unknown, after: unknown, path = ""): SpecChange[] {
  if (isMap(before) && isMap(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => specDiff(before[name], after[name], path === "" ? name : `${path}.${name}`));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
