import { nameOk, scopeOk } from "./identity.ts";

/** The config bucket that an `env_from` entry names: `scope/name`, or `name` in the own scope. Undefined when neither. */
export function envFromTarget(entry: string, ownScope: string): { scope: string; name: string } | undefined {
  const parts = entry.split("/");
  const [scope, name] = parts.length === 1 ? [ownScope, entry] : parts;
  if (scope === undefined || name === undefined || parts.length > 2) return undefined;
  return scopeOk(scope) && nameOk(name) ? { scope, name } : undefined;
}
