import type { Problem } from "../../base/wire/failure.ts";
import { type CoreKind, podKinds } from "../api/manifest.ts";
import type { FindReferenced } from "./references.ts";
import { podOf } from "./spec/decode.ts";

interface Owner {
  kind: CoreKind;
  scope: string;
  name: string;
  spec: Record<string, unknown>;
}

/** The entries of `start_after` that lead back to their own app: each of them would wait for the other. */
export function startCycles(owner: Owner, find: FindReferenced): Problem[] {
  return (podOf(owner)?.startAfter ?? []).flatMap(({ name }, index): Problem[] => {
    const way = wayTo(owner, name, find);
    if (way === undefined) return [];
    const message =
      way.length === 0
        ? `"${name}" is this app itself; remove the entry`
        : `"${name}" waits for this app: ${[owner.name, name, ...way].join(" → ")}; remove one of these entries`;
    return [{ path: `spec.start_after[${index}]`, message }];
  });
}

/** The names from one app to the owner, the owner included; undefined where it does not wait for the owner. */
function wayTo({ scope, name: owner }: Owner, from: string, find: FindReferenced): string[] | undefined {
  if (from === owner) return [];
  const ways = new Map<string, string[]>([[from, []]]);
  for (const [name, way] of ways) {
    for (const next of awaitedBy(scope, name, find)) {
      if (next === owner) return [...way, owner];
      if (!ways.has(next)) ways.set(next, [...way, next]);
    }
  }
  return undefined;
}

function awaitedBy(scope: string, name: string, find: FindReferenced): string[] {
  return podKinds.flatMap((kind) => {
    const found = find({ kind, scope, name });
    return found === undefined ? [] : (podOf(found)?.startAfter ?? []).map((entry) => entry.name);
  });
}
