import type { FailureReason, Problem } from "../api/failure.ts";
import type { Spec } from "../api/manifest.ts";
import { textMapOf } from "./lenient.ts";
import { type Placeholder, substitute } from "./reference.ts";

/** A fault that keeps a workload from being made, with the reason that its condition shows. */
export interface ResolveProblem extends Problem {
  reason: FailureReason;
}

/** Fills the placeholders of one text; what cannot be filled becomes a problem at `path` and stays as it stands. */
export type Fill = (text: string, path: string) => string;

/** Asset references become the host path of the content that was stamped at apply. */
export function assetFiller(input: {
  spec: Spec;
  assetPath: (digest: string) => string;
  problems: ResolveProblem[];
}): Fill {
  const digests = textMapOf(input.spec._asset_digests);
  return (text, path) =>
    substitute(text, (placeholder) => {
      const digest = assetDigest(placeholder, digests);
      if (digest !== undefined) return input.assetPath(digest);
      input.problems.push({ path, ...unresolved(placeholder) });
      return undefined;
    });
}

export function assetDigest(placeholder: Placeholder | undefined, digests: Record<string, string>): string | undefined {
  if (placeholder?.type !== "asset") return undefined;
  return Object.hasOwn(digests, placeholder.asset.ref) ? digests[placeholder.asset.ref] : undefined;
}

function unresolved(placeholder: Placeholder): { message: string; reason: FailureReason } {
  if (placeholder.type === "asset") {
    const message = `the content of "${placeholder.text}" is not here yet; apply the asset, or see why it fails`;
    return { message, reason: "AssetUnavailable" };
  }
  if (placeholder.type === "ref") {
    const message = `"${placeholder.text}" has no value: ${placeholder.kind}/${placeholder.name} reports none`;
    return { message, reason: "ReferenceUnresolved" };
  }
  return { message: `"${placeholder.text}" is not a reference; ${placeholder.form}`, reason: "ReferenceUnresolved" };
}
