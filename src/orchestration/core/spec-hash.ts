import type { CoreKind, Spec } from "../api/manifest.ts";
import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import { hashInput } from "./spec/hash-input.ts";

/**
 * Sha256 hex over everything in a spec that a container is made from: two specs with the same hash run the same
 * containers. Config is not part of it; replica counts, webhooks and rollout settings neither.
 */
export function specHash(kind: CoreKind, spec: Spec): string {
  const known = hashes.get(spec);
  if (known?.kind === kind) return known.hash;
  const hash = sha256Hex(canonicalJson(hashInput(kind, spec)));
  // Several ask for the same one in each look at a resource; what is not frozen may be another by then.
  if (Object.isFrozen(spec)) hashes.set(spec, { kind, hash });
  return hash;
}

const hashes = new WeakMap<Spec, { kind: CoreKind; hash: string }>();
