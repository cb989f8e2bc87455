import { childPath } from "../pure/path.ts";

/** The keys of a JSON pointer. */
export function pointerKeys(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A JSON pointer as a path of ours; the value tells list positions from keys that look like numbers. */
export function pointerPath(pointer: string, at: { value: unknown; path: string }): string {
  let path = at.path;
  let value = at.value;
  for (const key of pointerKeys(pointer)) {
    path = childPath(path, Array.isArray(value) ? Number(key) : key);
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  }
  return path;
}
