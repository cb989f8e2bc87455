import type { WritableKind } from "../api/kinds/schemas.ts";
import type { Problem } from "../../base/wire/failure.ts";

const scopePattern = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;
const namePattern = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;
const podNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/;

const shownMax = 80;

/** Whether `text` may be a scope, a claim name or an init name (architecture, "Names"). */
export function scopeOk(text: string): boolean {
  return scopePattern.test(text);
}

/** Whether `text` may be a resource name. */
export function nameOk(text: string): boolean {
  return namePattern.test(text) && !text.includes("..");
}

/** Whether `text` can name a container at all; anything else never reaches the engine. */
export function podNameOk(text: string): boolean {
  return podNamePattern.test(text);
}

/**
 * The scope of a plugin's block. One that names none has a scope called as itself: plugins keep config for a block, and what
 * it becomes collides with nothing. "" where its name cannot be a scope.
 */
export function scopeOfBlock(scope: string, name: string): string {
  return scope === "" && scopeOk(name) ? name : scope;
}

/** What is wrong with the identity of a manifest. Paths are `scope` and `name`; `scope` "" means none was given. */
export function identityProblems(kind: WritableKind, scope: string, name: string): Problem[] {
  return [...scopeProblems(kind, scope), ...nameProblems(kind, name)];
}

function scopeProblems(kind: WritableKind, scope: string): Problem[] {
  const problem = (message: string) => [{ path: "scope", message }];
  if (scope === "") {
    return kind === "asset" || kind === "registry" ? [] : problem(`a ${kind} needs a scope`);
  }
  if (kind === "registry") return problem(`a registry has no scope; leave "${clip(scope)}" out`);
  if (scopeOk(scope)) return [];
  return problem(
    `"${clip(scope)}" is not a scope; use 1 to 40 lower-case letters, digits and "-", starting and ending with a letter or digit`,
  );
}

function nameProblems(kind: WritableKind, name: string): Problem[] {
  const problem = (message: string) => [{ path: "name", message }];
  if (name === "") return problem("a name is required");
  if (!nameOk(name)) {
    return problem(
      `"${clip(name)}" is not a name; use 1 to 63 lower-case letters, digits, ".", "_" and "-" without "..", ` +
        "starting and ending with a letter or digit",
    );
  }
  // Dots separate the parts of ${asset.scope.name.key}.
  if (kind === "asset" && name.includes("."))
    return problem(`"${name}" has a dot; asset references separate with dots`);
  return [];
}

function clip(text: string): string {
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
