import { createHash } from "node:crypto";
import type { CoreKind, Spec } from "../api/manifest.ts";
import { hashInput } from "./hash-input.ts";

/** JSON with sorted keys (by code unit) and without undefined fields: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

export function sha256Hex(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/**
 * Sha256 hex over everything in a spec that a container is made from: two specs with the same hash run the same
 * containers. Config is not part of it; replica counts, hooks and rollout settings neither.
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
