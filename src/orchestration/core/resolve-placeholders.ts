import { own } from "../../base/pure/fields.ts";
import type { FailureReason, Problem } from "../../base/wire/failure.ts";
import { type Placeholder, substitute } from "./placeholders.ts";
import { reportsValues, referenceFault, reportedValue } from "./reported-values.ts";
import { unresolvedText } from "./references.ts";
import type { ResolveInput } from "./resolve-input.ts";

/** A fault that keeps a workload from being made, with the reason that its condition shows. */
export interface ResolveProblem extends Problem {
  reason: FailureReason;
}

/** Fills the placeholders of one text; what cannot be filled becomes a problem at `path` and stays as it stands. */
export type Fill = (text: string, path: string) => string;

/** Sha256 hex by asset reference, as stamped at apply. */
type Digests = Readonly<Record<string, string>>;

/** A value, or why there is none now. */
type Filled = { value: string } | { message: string; reason: FailureReason };

/**
 * Asset references become the host path of the content that was stamped at apply; references to other manifests of the
 * scope what those report now.
 */
export function placeholderFiller(input: ResolveInput, digests: Digests, problems: ResolveProblem[]): Fill {
  const fill = (placeholder: Placeholder): Filled => {
    switch (placeholder.type) {
      case "asset":
        return assetPath(input, placeholder, digests);
      case "ref":
        return referredValue(input, placeholder);
      case "malformed":
        return { message: `"${placeholder.text}" is not a reference; ${placeholder.form}`, reason: unresolved };
    }
  };
  return (text, path) =>
    substitute(text, (placeholder) => {
      const filled = fill(placeholder);
      if ("value" in filled) return filled.value;
      problems.push({ path, ...filled });
      return undefined;
    });
}

export function assetDigest(placeholder: Placeholder | undefined, digests: Digests): string | undefined {
  if (placeholder?.type !== "asset") return undefined;
  return own(digests, placeholder.asset.ref);
}

const unresolved = "ReferenceUnresolved";

function assetPath(input: ResolveInput, placeholder: Placeholder, digests: Digests): Filled {
  const digest = assetDigest(placeholder, digests);
  if (digest !== undefined) return { value: input.assetPath(digest) };
  const message = `the content of "${placeholder.text}" is not here yet; apply the asset, or see why it fails`;
  return { message, reason: "AssetUnavailable" };
}

function referredValue(
  { manifest, findReferenced, names }: ResolveInput,
  { text, kind, name, field }: Extract<Placeholder, { type: "ref" }>,
): Filled {
  // A manifest that an earlier version stored may name anything.
  if (!reportsValues(kind)) return { message: `"${text}": ${referenceFault(kind, field)}`, reason: unresolved };
  const target = { kind, scope: manifest.scope, name };
  const referenced = findReferenced(target);
  const value = referenced === undefined ? undefined : reportedValue(referenced, field, names);
  if (value !== undefined) return { value };
  return { message: unresolvedText({ text, target, field }, referenced), reason: unresolved };
}
