import { Failure } from "../base/wire/failure.ts";
import type { Principal } from "./principal.ts";

/** An app as a filter sees it. */
export interface AppName {
  scope: string;
  name: string;
}

/** Globs of apps, `scope` or `scope/name`; none: every app. */
export interface AppLimit {
  apps: readonly string[];
}

/** The apps that a principal is limited to. What a run or a pod asks for stays within the limit of the one behind it. */
export function appLimitOf(principal: Principal): AppLimit {
  switch (principal.type) {
    case "token":
    case "person":
      return { apps: principal.apps };
    case "plugin":
      return appLimitOf(principal.askedBy);
    case "pod":
      return principal.askedBy === undefined ? unlimited : appLimitOf(principal.askedBy);
    case "operator":
    case "server":
    case "unnamed":
      return unlimited;
  }
}

const unlimited: AppLimit = { apps: [] };

/** Whether a token or a session asks: it is held to its apps, and its plane keeps an audit trail of every change. */
export function isFromAfar(by: Principal): by is Extract<Principal, { type: "token" | "person" }> {
  return by.type === "token" || by.type === "person";
}

/** The apps that a caller may see. A run of a plugin sees what its plugin was granted: the caller that started it does not matter. */
export function sightOf(by: Principal): AppLimit {
  return isFromAfar(by) ? by : unlimited;
}

/** Whether a caller may see what belongs to an app, or without a name to the whole server. */
export function sees(by: Principal, { scope = "", name }: Partial<AppName>): boolean {
  return name === undefined ? reachesAll(sightOf(by)) : mayReach(sightOf(by), { scope, name });
}

/** Fails `not_found` for a bucket of config that a caller may not see. All apps of a scope read that of the scope. */
export function requireBucket(by: Principal, { scope = "", name }: Partial<AppName>): void {
  if (sees(by, { scope, name: name ?? "*" })) return;
  const where = name === undefined ? `scope ${scope}` : `${scope}/${name}`;
  throw new Failure("not_found", `${where} does not exist, or this token may not see its config`);
}

/** Fails `forbidden` for a token that is limited to some apps. `why` says what else is concerned. */
export function requireAllApps(by: Principal, why = "this is about all of them"): void {
  if (reachesAll(sightOf(by))) return;
  throw new Failure("forbidden", `this token is limited to some apps, and ${why}`);
}

/** The same for what does not exist and for what a token may not see: a token does not learn which of the two it is. */
export function unseen(what: string): Failure {
  return new Failure("not_found", `${what} does not exist, or this token may not see it`);
}

/**
 * Whether a token may see an app. What it may not see is left out of lists and is a 404 elsewhere. `*` in a glob stands
 * for any characters of one part; a glob without a slash means every app of the scope.
 */
export function mayReach({ apps }: AppLimit, { scope, name }: AppName): boolean {
  return apps.length === 0 || apps.some((glob) => matches(glob, scope, name));
}

/** Whether a token may see what belongs to no app: the host, the ingress as a whole, every event. */
export function reachesAll({ apps }: AppLimit): boolean {
  return apps.length === 0;
}

function matches(glob: string, scope: string, name: string): boolean {
  const [scopeGlob = "", nameGlob = "*"] = glob.split("/");
  return fits(scopeGlob, scope) && fits(nameGlob, name);
}

/** Greedy, with one step back to the last star: linear for all that a filter holds. */
function fits(glob: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let mark = 0;
  let i = 0;
  while (i < text.length) {
    if (at < glob.length && glob[at] === "*") {
      star = at;
      at += 1;
      mark = i;
    } else if (at < glob.length && glob[at] === text[i]) {
      at += 1;
      i += 1;
    } else if (star >= 0) {
      at = star + 1;
      mark += 1;
      i = mark;
    } else return false;
  }
  while (glob[at] === "*") at += 1;
  return at === glob.length;
}
