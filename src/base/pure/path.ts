const plainKey = /^[A-Za-z0-9_@*-]+$/;

/** Path of an entry in a manifest: `spec.ports[0]`, `spec.env.PORT`, `spec.labels["a.b"]`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!plainKey.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}
