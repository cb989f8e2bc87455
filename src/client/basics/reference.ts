import { keyOf } from "../../orchestration/api/manifest-key.ts";
import { formatKey } from "../../orchestration/api/manifest.ts";
import { usageFailure } from "./failures.ts";
import { kindNamed, normalKind } from "./kinds.ts";

/** What an operator wrote to name something. Which of the parts exist depends on the form. */
export interface Reference {
  /** As written. */
  text: string;
  kind?: string;
  scope?: string;
  name?: string;
  /** A word alone: a scope, a resource name, or a container name, as the command decides. */
  word?: string;
}

/** `word`, `scope/name` or `kind/scope/name`. A name may hold dots: see `splitReplica`. */
export function parseReference(text: string): Reference {
  const parts = text.split("/");
  const [first = "", second, third] = parts;
  if (parts.length > 3 || parts.includes("")) throw notAReference(text);
  if (second === undefined) return { text, word: first };
  if (third === undefined) return { text, scope: first, name: second };
  const kind = kindNamed(first) ?? first;
  return { text, kind, scope: second, name: third };
}

/** A resource: `name`, `scope/name` or `kind/scope/name`; the server finds the scope of a name alone. */
export function resourceReference(text: string): Reference & { name: string } {
  const { word, name, ...rest } = parseReference(text);
  return { ...rest, name: name ?? word ?? "" };
}

/** The same as the fields of a query; the value of `--kind` comes before a kind in the reference. */
export function resourceQuery(text: string, kindFlag: string | undefined) {
  const { kind, scope, name } = resourceReference(text);
  return { kind: kindFlag === undefined ? kind : normalKind(kindFlag), scope, name };
}

/** A config bucket: `scope` or `scope/name`; whatever has that name reads it, so that a kind before it says nothing. */
export function bucketReference(text: string): { text: string; scope: string; name?: string } {
  const { word, scope, name } = parseReference(text);
  if (scope !== undefined && name !== undefined) return { text: `${scope}/${name}`, scope, name };
  return { text, scope: word ?? "" };
}

/** The two sides of the last dot: `web.0` is replica 0 of `web`, unless a resource is called `web.0`. */
export function splitReplica(name: string): { name: string; replica: string } | undefined {
  const dot = name.lastIndexOf(".");
  if (dot <= 0 || dot === name.length - 1) return undefined;
  return { name: name.slice(0, dot), replica: name.slice(dot + 1) };
}

function notAReference(text: string) {
  return usageFailure(`"${text}" names nothing: write scope, scope/name, kind/scope/name or scope/name.replica`);
}

/** A resource as people name it: `deployment/shop/web`. */
export function refOf(resource: { kind: string; scope?: string | undefined; name: string }): string {
  return formatKey(keyOf(resource));
}
