import { isFields } from "./fields.ts";

const plainKey = /^[A-Za-z0-9_@*-]+$/;

/** Path of an entry in a manifest: `spec.ports[0]`, `spec.env.PORT`, `spec.labels["a.b"]`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!plainKey.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** The value without what is at the path; as it is where nothing is there. */
export function withoutPath(value: unknown, path: string): unknown {
  const keys = [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([A-Za-z0-9_@*-]+)/g)];
  return without(
    value,
    keys.map(([, index, quoted, plain]) => plain ?? (quoted === undefined ? Number(index) : JSON.parse(quoted))),
  );
}

function without(value: unknown, [key, ...rest]: readonly (string | number)[]): unknown {
  if (Array.isArray(value)) {
    return typeof key === "number"
      ? value.map((entry, index) => (index === key ? without(entry, rest) : entry))
      : value;
  }
  if (!isFields(value) || key === undefined || !Object.hasOwn(value, key)) return value;
  if (rest.length > 0) return { ...value, [key]: without(value[key], rest) };
  return Object.fromEntries(Object.entries(value).filter(([field]) => field !== String(key)));
}
