import type { Problem } from "../../base/wire/failure.ts";
import { type CoreKind, podKinds } from "../api/manifest.ts";
import type { FindReferenced } from "./references.ts";
import { startAfterOf } from "./spec/pod.ts";

interface Owner {
  kind: CoreKind;
  scope: string;
  name: string;
  spec: Record<string, unknown>;
}

/** The entries of `start_after` that lead back to their own app: each of them would wait for the other. */
export function startCycles({ kind, scope, name: owner, spec }: Owner, find: FindReferenced): Problem[] {
  const entries = podKinds.some((each) => each === kind) ? startAfterOf(spec) : [];
  const awaiting = awaitingEach(entries, (name) => awaitedBy({ scope, name }, find));
  const next = nextTo(owner, awaiting);
  return entries.flatMap(({ name }, index): Problem[] => {
    if (name !== owner && !next.has(name)) return [];
    const message =
      name === owner
        ? `"${name}" is this app itself; remove the entry`
        : `"${name}" waits for this app: ${[owner, ...wayFrom(name, next)].join(" → ")}; remove one of these entries`;
    return [{ path: `spec.start_after[${index}]`, message }];
  });
}

/** Every app that the entries lead to, with those that wait for it; each is looked at once. */
function awaitingEach(
  entries: readonly { name: string }[],
  awaited: (name: string) => string[],
): Map<string, string[]> {
  const awaiting = new Map<string, string[]>(entries.map(({ name }) => [name, []]));
  for (const name of awaiting.keys()) {
    for (const one of awaited(name)) {
      const known = awaiting.get(one);
      if (known === undefined) awaiting.set(one, [name]);
      else known.push(name);
    }
  }
  return awaiting;
}

/** From each app that leads to the owner, the next on the shortest way there. */
function nextTo(owner: string, awaiting: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const next = new Map<string, string>();
  const reached = new Set([owner]);
  for (const name of reached) {
    for (const before of awaiting.get(name) ?? []) {
      if (reached.has(before)) continue;
      reached.add(before);
      next.set(before, name);
    }
  }
  return next;
}

function wayFrom(name: string, next: ReadonlyMap<string, string>): string[] {
  const way: string[] = [];
  for (let at: string | undefined = name; at !== undefined; at = next.get(at)) way.push(at);
  return way;
}

function awaitedBy(app: { scope: string; name: string }, find: FindReferenced): string[] {
  return podKinds.flatMap((kind) => {
    const found = find({ kind, ...app });
    return found === undefined ? [] : startAfterOf(found.spec).map(({ name }) => name);
  });
}
