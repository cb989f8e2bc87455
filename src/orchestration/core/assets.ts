import type { Problem } from "../../base/wire/failure.ts";
import type { CoreKind, Spec } from "../api/manifest.ts";
import { isFields } from "../../base/pure/fields.ts";
import { base64Bytes, textBytes } from "../../base/pure/bytes.ts";
import { type AssetReference, parseAssetReference, placeholdersIn } from "./placeholders.ts";
import { containerOf, decodeSpec } from "./spec/decode.ts";
import type { DecodedFile } from "./spec/asset.ts";
import { textsOf } from "./spec-texts.ts";

/** One file of an asset manifest. */
export interface AssetFileSource {
  key: string;
  /** Permissions: 0o644. */
  mode: number;
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

/** Files of an asset's spec, in the order written; unreadable ones are left out. */
export function assetFiles(spec: Spec): AssetFileSource[] {
  return decodeSpec("asset", spec).files.flatMap((file) => {
    const source = sourceOf(file);
    return source === undefined ? [] : [{ key: file.key, mode: file.mode, source }];
  });
}

/** Every use of an asset file in image, command, volumes, env, inits and `depends_on.assets`. */
export function assetRefs({ kind, scope, spec }: Owner): AssetUse[] {
  const found = containerOf(kind, spec);
  if (found === undefined) return [];
  const { container, path } = found;
  const texts = textsOf({ kind, spec });
  // Most manifests use none, and each apply and each look asks several times.
  if (texts.length === 0 && container.dependsOn.length === 0) return [];
  const inText = texts.flatMap((text) =>
    placeholdersIn(text.value).flatMap((found) => {
      return found.type === "asset" ? [useOf(found.asset, text.path, scope)] : [];
    }),
  );
  const listed = container.dependsOn.flatMap((ref, index) => {
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
  if (containerOf(owner.kind, owner.spec) === undefined) return { spec: owner.spec, problems: [] };
  const digests = new Map<string, string>();
  const problems: Problem[] = [];
  for (const use of assetRefs(owner)) {
    const found = use.candidates.map(lookup).find((digest) => digest !== undefined);
    if (found === undefined) problems.push({ path: use.path, message: missingText(use) });
    else if (found !== null) digests.set(use.ref, found);
  }
  return { spec: withDigests(owner, digests), problems };
}

/** The record as written, with other digests; the same one where there were none and are none. */
function withDigests({ kind, spec }: Owner, digests: ReadonlyMap<string, string>): Spec {
  const container = kind !== "cronjob" ? spec : isFields(spec.job) ? spec.job : {};
  const { _asset_digests: before, ...fields } = container;
  if (digests.size === 0 && before === undefined) return spec;
  const sorted = Object.fromEntries([...digests].sort(([a], [b]) => (a < b ? -1 : 1)));
  const stamped = digests.size === 0 ? fields : { ...fields, _asset_digests: sorted };
  return kind === "cronjob" ? { ...spec, job: stamped } : stamped;
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

/** Undefined of an embedded file whose content is not base64. */
function sourceOf(file: DecodedFile): AssetFileSource["source"] | undefined {
  switch (file.type) {
    case "inline":
      return { type: "inline", bytes: textBytes(file.text) };
    case "embedded": {
      const bytes = base64Bytes(file.content);
      const named = file.fileName === undefined ? {} : { fileName: file.fileName };
      return bytes && { type: "inline", bytes, ...named };
    }
    case "url": {
      const { url, timeoutMs, onFailure } = file;
      return { type: "url", url, timeoutMs, onFailure };
    }
  }
}
