import { Failure } from "../../../base/wire/failure.ts";
import {
  containerKinds,
  type CoreKind,
  formatKey,
  type ManifestKey,
  type PodKind,
  podKinds,
} from "../../api/manifest.ts";
import { closest, didYouMean } from "../../../base/pure/suggest.ts";
import { kindList, parseKind } from "../../core/kind.ts";
import type { ManifestReads } from "../../store/store.ts";
import type { Target } from "../requests.ts";

/** Kind of a query in any spelling; `app` stands for the deployment it expands to. */
export function targetKind(text: string | undefined): CoreKind {
  if (!text) throw new Failure("invalid", "kind is required");
  const kind = parseKind(text);
  if (kind === undefined) throw unknownKind(text, `; kinds are ${kindList()}`);
  return kind === "app" ? "deployment" : kind;
}

/** A word that is neither a core kind nor one of a plugin. */
export function unknownKind(word: string, rest: string): Failure {
  const kind = word.slice(0, 80);
  return new Failure("invalid", `unknown kind "${kind}"${rest}`, { reason: "UnknownKind", fields: { kind } });
}

/** The kind that a filter means, in any spelling; a word that is none of ours stays as it is. */
export function filterKind(text: string | undefined): string | undefined {
  return text && parseKind(text) !== undefined ? targetKind(text) : text;
}

/** Whether a filter lets a resource through; what it leaves out fits everything. */
export function matches(key: ManifestKey, filter: Target): boolean {
  const same = (wanted: string | undefined, value: string) => !wanted || wanted === value;
  return same(filterKind(filter.kind), key.kind) && same(filter.scope, key.scope) && same(filter.name, key.name);
}

export function required(value: string | undefined, what: string): string {
  if (!value) throw new Failure("invalid", `${what} is required`);
  return value;
}

/**
 * The stored resource a caller means. A scope left out is found where exactly one matches: none is a 404, several
 * are a 400 that lists them.
 */
export function resolveTarget(manifests: ManifestReads, target: Target): ManifestKey {
  const kind = targetKind(target.kind);
  const name = required(target.name, "name");
  const known = manifests.list({ kind, name, ...(target.scope ? { scope: target.scope } : {}) });
  const [first, ...others] = known;
  if (first === undefined) throw notStored(manifests, [kind], { scope: target.scope, name });
  if (others.length > 0) throw ambiguousScope(kind, name, known);
  return { kind, scope: first.scope, name };
}

export function ambiguousScope(kind: string, name: string, known: readonly ManifestKey[]): Failure {
  const scopes = known.map(({ scope }) => scope || "(no scope)").join(", ");
  return new Failure("invalid", `${kind} "${name}" exists in several scopes: ${scopes}; say which with scope`);
}

/** As `resolveTarget`, the kind found by itself among deployment and statefulset. */
export function resolvePodTarget(manifests: ManifestReads, target: Target): ManifestKey & { kind: PodKind } {
  const name = required(target.name, "name");
  if (target.kind) {
    const kind = podKindOf(target.kind);
    return { ...resolveTarget(manifests, { ...target, kind }), kind };
  }
  const scope = target.scope ? { scope: target.scope } : {};
  const found = podKinds.flatMap((kind) => manifests.list({ kind, name, ...scope }));
  const [first, ...others] = found;
  if (first === undefined) throw notStored(manifests, podKinds, { scope: target.scope, name });
  if (others.length > 0) {
    const list = found.map(formatKey).join(", ");
    throw new Failure("invalid", `"${name}" is ambiguous: ${list}; say which with kind and scope`);
  }
  return { kind: podKindOf(first.kind), scope: first.scope, name };
}

export function isPodKind(kind: string): kind is PodKind {
  return podKinds.some((known) => known === kind);
}

export function isContainerKind(kind: string): boolean {
  return containerKinds.some((known) => known === kind);
}

function podKindOf(text: string): PodKind {
  const kind = targetKind(text);
  if (!isPodKind(kind)) throw new Failure("invalid", `kind "${text}" has no replicas; use deployment or statefulset`);
  return kind;
}

/**
 * What is not there, written as everywhere; several kinds where any would do, the scope perhaps left out. A name alone
 * that is the name of a scope has the reason `NameIsScope`, with one of those kinds in it as `example`.
 */
export function notStored(
  manifests: ManifestReads,
  kinds: readonly string[],
  { scope = "", name }: { scope?: string | undefined; name: string },
): Failure {
  const text = `${kinds.map((kind) => formatKey({ kind, scope, name })).join(" or ")} not found`;
  const within = scope === "" ? manifests.list({ scope: name }) : [];
  if (within.length === 0) {
    const next = meant(manifests, kinds, { scope, name }) || "; see: berth get all";
    return new Failure("not_found", `${text}${next}`);
  }
  const example = within.find(({ kind }) => kinds.includes(kind));
  const fields = { scope: name, ...(example === undefined ? {} : { example: `${name}/${example.name}` }) };
  return new Failure("not_found", text, { reason: "NameIsScope", fields });
}

/** `; did you mean "shop/web"`: the nearest of those kinds, or nothing. */
function meant(
  manifests: ManifestReads,
  kinds: readonly string[],
  { scope, name }: { scope: string; name: string },
): string {
  const others = manifests.heads().filter((one) => kinds.includes(one.kind));
  if (scope === "") return didYouMean(name, [...new Set(others.map((one) => one.name))]);
  const here = others.filter((one) => one.scope === scope).map((one) => `${scope}/${one.name}`);
  const there = others.filter((one) => one.name === name).map((one) => `${one.scope}/${name}`);
  const near = closest(
    name,
    here.map((text) => text.slice(scope.length + 1)),
  );
  if (near !== undefined) return `; did you mean "${scope}/${near}"`;
  return there.length === 0 ? "" : `; there is ${there.slice(0, 3).join(", ")}`;
}
