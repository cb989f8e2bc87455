import { digestOf } from "./digest.ts";

/** One changed field; a side is undefined where the field is absent there. */
interface FieldChange {
  path: string;
  before: unknown;
  after: unknown;
}

/**
 * The values on both sides of changed paths (`image` or `spec.image`; `ports[0]`). A changed map of environment
 * variables becomes one change a variable.
 */
export function fieldChanges(paths: readonly string[], before: unknown, after: unknown): FieldChange[] {
  return paths.flatMap((full) => {
    const path = full.replace(/^spec\./, "");
    const change = { path, before: valueAt(before, path), after: valueAt(after, path) };
    if (isEnvironment(path)) return environmentChanges(change);
    return [isAssetDigest(path) ? assetChange(change) : change];
  });
}

/** What the server stamps on the readers of an asset, see core/assets.ts. */
function isAssetDigest(path: string): boolean {
  return path.startsWith("_asset_digests");
}

function assetChange({ path, before, after }: FieldChange): FieldChange {
  const short = (value: unknown) => (typeof value === "string" ? digestOf(value) : undefined);
  return { path: fieldName(path), before: short(before), after: short(after) };
}

/** The name of a field for people: the digest of an asset, which the server writes, is named after the asset. */
export function fieldName(path: string): string {
  if (!isAssetDigest(path)) return path;
  const named = /^_asset_digests(?:\["(.+)"\]|\.(.+))$/.exec(path);
  return `asset ${named?.[1] ?? named?.[2] ?? ""}`.trim();
}

function isEnvironment(path: string): boolean {
  return /(?:^|\.)env$/.test(path);
}

function environmentChanges({ path, before, after }: FieldChange): FieldChange[] {
  const [old, fresh] = [asObject(before), asObject(after)];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(fresh)])].sort();
  return keys
    .map((key) => ({ path: `${path}.${key}`, before: old[key], after: fresh[key] }))
    .filter((change) => change.before !== change.after);
}

/** The value at a dotted path; keys that hold dots themselves are found too. */
export function valueAt(value: unknown, path: string): unknown {
  if (path === "") return value;
  if (Array.isArray(value)) {
    const [whole = "", index] = /^\[(\d+)\]\.?/.exec(path) ?? [];
    return index === undefined ? undefined : valueAt(value[Number(index)], path.slice(whole.length));
  }
  const [quoted, text] = /^\[("(?:[^"\\]|\\.)*")\]\.?/.exec(path) ?? [];
  if (quoted !== undefined && text !== undefined) {
    return valueAt(asObject(value)[JSON.parse(text)], path.slice(quoted.length));
  }
  const key = Object.keys(asObject(value))
    .filter((candidate) => path === candidate || path.startsWith(`${candidate}.`) || path.startsWith(`${candidate}[`))
    .sort((a, b) => b.length - a.length)[0];
  return key === undefined ? undefined : valueAt(asObject(value)[key], path.slice(key.length).replace(/^\./, ""));
}

const shownMax = 60;

/** A side of a change in one short line. Environment values and asset content show as digests unless `reveal`. */
export function valueText(path: string, value: unknown, reveal: boolean): string {
  if (value === undefined) return "–";
  if (/(?:^|\.)env\.[^.]+$/.test(path) && typeof value === "string" && !reveal) return digestOf(value);
  if (/^files\.[^.]+$/.test(path)) return contentText(value);
  if (path.startsWith("asset ")) return String(value);
  const text = JSON.stringify(value);
  return text.length <= shownMax ? text : `${text.slice(0, shownMax - 1)}…`;
}

/** What stands in for the content of an asset file. */
function contentText(value: unknown): string {
  if (typeof value === "string") return `${digestOf(value)} (${Buffer.byteLength(value)} bytes)`;
  const { url, content } = asObject(value);
  if (typeof url === "string") return url;
  const bytes = Buffer.from(typeof content === "string" ? content : "", "base64");
  return `${digestOf(bytes)} (${bytes.length} bytes)`;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
