import type { Problem } from "../../base/wire/failure.ts";
import { type CoreKind, containerKinds, type Spec } from "../api/manifest.ts";
import { base64Bytes, textBytes } from "../../base/pure/bytes.ts";
import { containerFieldsOf, withContainerFields } from "./container-fields.ts";
import { parseDuration } from "../../base/pure/duration.ts";
import { fieldsOf, isFields, textOf, wordsOf } from "./lenient.ts";
import { type AssetReference, parseAssetReference, placeholdersIn } from "./reference.ts";
import { textsOf } from "./spec-texts.ts";

/** One file of an asset manifest. */
export interface AssetFileSource {
  key: string;
  source:
    | { type: "inline"; bytes: Uint8Array; fileName?: string }
    | { type: "url"; url: string; timeoutMs: number; onFailure: "stale" | "error" | "skip" };
}

/** A use of an asset file in a spec. `candidates` are tried in order: own scope, then unscoped. */
export interface AssetUse {
  ref: string;
  path: string;
  candidates: AssetTarget[];
}

/** `scope` "" is an unscoped asset. */
export interface AssetTarget {
  scope: string;
  name: string;
  key: string;
}

/** Sha256 hex of the file's content; null when the file is declared but its content is not here yet. */
export type AssetLookup = (target: AssetTarget) => string | null | undefined;

interface Owner {
  kind: CoreKind;
  scope: string;
  spec: Spec;
}

const fetchTimeoutMs = 30_000;

/** Files of an asset's spec, in the order written; unreadable ones are left out. */
export function assetFiles(spec: Spec): AssetFileSource[] {
  return Object.entries(fieldsOf(spec.files)).flatMap(([key, file]): AssetFileSource[] => {
    if (typeof file === "string") return [{ key, source: { type: "inline", bytes: textBytes(file) } }];
    if (!isFields(file)) return [];
    return file._source === "url" ? fetched(key, file) : embedded(key, file);
  });
}

/** Every use of an asset file in image, command, volumes, env, inits and `depends_on.assets`. */
export function assetRefs({ kind, scope, spec }: Owner): AssetUse[] {
  if (!containerKinds.some((one) => one === kind)) return [];
  const { fields, path } = containerFieldsOf(kind, spec);
  const inText = textsOf({ kind, spec }).flatMap((text) =>
    placeholdersIn(text.value).flatMap((found) => {
      return found.type === "asset" ? [useOf(found.asset, text.path, scope)] : [];
    }),
  );
  const listed = wordsOf(fieldsOf(fields.depends_on).assets).flatMap((ref, index) => {
    const asset = parseAssetReference(ref);
    return asset === undefined ? [] : [useOf(asset, `${path}.depends_on.assets[${index}]`, scope)];
  });
  return [...inText, ...listed];
}

/**
 * Writes `_asset_digests` (reference to sha256, sorted) into a consumer's spec, or removes it when nothing is used;
 * what a client sent there never counts. A file that is declared but not here yet gets no entry and no problem.
 */
export function stampAssetDigests(owner: Owner, lookup: AssetLookup): { spec: Spec; problems: Problem[] } {
  if (!containerKinds.some((one) => one === owner.kind)) return { spec: owner.spec, problems: [] };
  const digests = new Map<string, string>();
  const problems: Problem[] = [];
  for (const use of assetRefs(owner)) {
    const found = use.candidates.map(lookup).find((digest) => digest !== undefined);
    if (found === undefined) problems.push({ path: use.path, message: missingText(use) });
    else if (found !== null) digests.set(use.ref, found);
  }
  const { _asset_digests: _, ...fields } = containerFieldsOf(owner.kind, owner.spec).fields;
  const sorted = Object.fromEntries([...digests].sort(([a], [b]) => (a < b ? -1 : 1)));
  const stamped = digests.size === 0 ? fields : { ...fields, _asset_digests: sorted };
  return { spec: withContainerFields(owner.kind, owner.spec, stamped), problems };
}

function useOf(asset: AssetReference, path: string, ownScope: string): AssetUse {
  return { ref: asset.ref, path, candidates: assetCandidates(asset, ownScope) };
}

/** Where the file of a reference may be, in the order to look. */
export function assetCandidates({ scope, name, key }: AssetReference, ownScope: string): AssetTarget[] {
  const scopes = scope === undefined ? [ownScope, ""] : [scope];
  return scopes.map((at) => ({ scope: at, name, key }));
}

function missingText({ ref, candidates }: AssetUse): string {
  const places = candidates.map(({ scope, name }) => (scope === "" ? `asset/${name}` : `asset/${scope}/${name}`));
  const key = candidates[0]?.key ?? "";
  return `"${ref}" names no asset file; no key "${key}" in ${places.join(" or ")}; apply that asset first or with it`;
}

function embedded(key: string, file: Record<string, unknown>): AssetFileSource[] {
  const bytes = base64Bytes(typeof file.content === "string" ? file.content : "");
  if (bytes === undefined) return [];
  const fileName = textOf(file.filename);
  return [{ key, source: { type: "inline", bytes, ...(fileName === undefined ? {} : { fileName }) } }];
}

function fetched(key: string, file: Record<string, unknown>): AssetFileSource[] {
  const url = textOf(file.url);
  if (url === undefined) return [];
  const timeoutMs = parseDuration(textOf(file.timeout) ?? "") ?? fetchTimeoutMs;
  const onFailure = file.on_failure === "error" || file.on_failure === "skip" ? file.on_failure : "stale";
  return [{ key, source: { type: "url", url, timeoutMs, onFailure } }];
}
