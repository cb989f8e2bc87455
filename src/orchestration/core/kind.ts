import type { WritableKind } from "../api/kinds/schemas.ts";
import { coreKinds } from "../api/manifest.ts";

const irregular: Partial<Record<WritableKind, string>> = { ingress: "ingresses", registry: "registries" };

const kindOf = new Map<string, WritableKind>(
  [...coreKinds, "app" as const].flatMap((kind): [string, WritableKind][] => [
    [kind, kind],
    [irregular[kind] ?? `${kind}s`, kind],
  ]),
);

/** The kind a word means: any case, singular or plural. Undefined for a kind that is not built in. */
export function parseKind(text: string): WritableKind | undefined {
  return kindOf.get(text.trim().toLowerCase());
}

/** The kinds a manifest may have, as error texts list them. */
export function kindList(): string {
  return [...coreKinds, "app"].join(", ");
}

/** What `parseKind` understands, for suggestions. */
export function kindWords(): string[] {
  return [...coreKinds, "app"];
}
