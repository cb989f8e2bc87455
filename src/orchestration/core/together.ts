import type { Problem } from "../../base/wire/failure.ts";
import { formatKey, type Spec } from "../api/manifest.ts";
import { assetFiles, type AssetLookup, stampAssetDigests } from "./assets.ts";
import type { CoreDraft, DraftManifest } from "./draft.ts";
import { expandApp } from "./expand.ts";
import type { Naming } from "./naming.ts";
import { normaliseSpec } from "./normalise.ts";
import { type FindReferenced, referenceProblems, type ReferenceTarget } from "./references.ts";
import { startCycles } from "./start-after.ts";
import { conflictText, duplicateReservations, firstOfEachHost, reservedField } from "./reservations.ts";

/** A part of what is applied; `from` is the index of the manifest that it comes from. */
export type Part = CoreDraft & { from: number };
export type FoundAt = Problem & { from: number };

/** The manifests of a body that can be judged, beside those that cannot. */
interface Judged {
  parts: readonly Part[];
  /** Whether a manifest outside of `parts` may be the one under this identity. */
  isOpen: (target: ReferenceTarget) => boolean;
}

/** What a server has stored; left out where there is none to ask. */
interface Known {
  digest: AssetLookup;
  findReferenced: FindReferenced;
}

/** The resources that manifests without faults of their own become. */
export function partsOf(drafts: readonly DraftManifest[], indexes: readonly number[]): Part[] {
  return drafts.flatMap((draft, at): Part[] => {
    const from = indexes[at] ?? 0;
    return expandApp(draft).map((part) => ({ ...part, spec: normaliseSpec(part.kind, part.spec), from }));
  });
}

/** Two parts that want the same host, port or name. */
export function clashes(parts: readonly Part[]): FoundAt[] {
  const found = duplicateReservations(parts);
  const each = firstOfEachHost(found, ({ name, first, second }) => ({ name, between: `${first} ${second}` }));
  return each.flatMap(({ name, first, second }) => {
    const [holder, late] = [parts[first], parts[second]];
    if (holder === undefined || late === undefined) return [];
    return [{ from: late.from, path: reservedField(name), message: conflictText(name, holder) }];
  });
}

/** References to files and values that the other parts do not have. What may still come from elsewhere is not a fault. */
export function brokenReferences({ parts, isOpen }: Judged, names: Naming, known?: Known): FoundAt[] {
  const byKey = new Map(parts.map((part) => [formatKey(part), part]));
  const digest: AssetLookup = (target) => {
    const asset: ReferenceTarget = { kind: "asset", scope: target.scope, name: target.name };
    const part = byKey.get(formatKey(asset));
    if (part !== undefined) return assetFiles(part.spec).some(({ key }) => key === target.key) ? null : undefined;
    return isOpen(asset) || known === undefined ? null : known.digest(target);
  };
  const findReferenced: FindReferenced = (target) => {
    const part = byKey.get(formatKey(target));
    if (part === undefined) return isOpen(target) ? undefined : known?.findReferenced(target);
    return { ...part, ...digestsOf(part.kind, part.spec) };
  };
  return parts.flatMap((part) => {
    const found = [...stampAssetDigests(part, digest).problems, ...referenceProblems(part, findReferenced, names)];
    found.push(...startCycles(part, findReferenced));
    return found.map((problem) => ({ ...problem, from: part.from }));
  });
}

/** Digests of an asset whose content is not looked at: that it has one is enough. */
function digestsOf(kind: string, spec: Spec): { digests?: Record<string, string> } {
  return kind === "asset" ? { digests: Object.fromEntries(assetFiles(spec).map(({ key }) => [key, ""])) } : {};
}
