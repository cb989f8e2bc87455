import type { CollectionTag, ScalarTag } from "yaml";

/** Tags of an asset's files. They are only recognised here; `assetFile` and `assetUrl` give them their meaning. */
export const manifestTags: (ScalarTag | CollectionTag)[] = [
  { tag: "!file", resolve: (text) => text },
  { tag: "!url", resolve: (text) => text },
  { tag: "!url", collection: "map", resolve: (map) => map },
];

/** The value of an asset key with the content of a local file (`EmbeddedFile` in `api/kinds/asset-file.ts`). */
export function assetFile(path: string, content: Uint8Array): Record<string, unknown> {
  const filename = path.slice(path.lastIndexOf("/") + 1);
  return { _source: "file", content: Buffer.from(content).toString("base64"), filename };
}

/** A file that the server fetches: from an address alone, or `{url|href, timeout?, on_failure?}`. */
export function assetUrl(value: unknown): Record<string, unknown> | undefined {
  if (typeof value === "string") return { _source: "url", url: value };
  if (typeof value !== "object" || value === null) return undefined;
  const { href, ...rest } = value as Record<string, unknown>;
  const url = rest.url ?? href;
  return typeof url === "string" ? { _source: "url", ...rest, url } : undefined;
}
