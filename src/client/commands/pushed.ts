import { coreKinds } from "../../orchestration/api/manifest.ts";
import type { ManifestSet } from "../manifests/read.ts";
import type { Arguments } from "../basics/arguments.ts";
import { CommandFailure, usageFailure } from "../basics/failures.ts";
import { normalKind } from "../basics/kinds.ts";
import { appIdentity } from "../build/place.ts";

/** What a repository deploys: a scope, and the app in it where the source has no manifests. */
export interface Pushed {
  scope: string;
  name: string;
}

/** The value of `--pushed`: `shop`, or `shop/api`. */
export function pushedOf(args: Arguments): Pushed | undefined {
  const text = args.value("pushed");
  if (text === undefined) return undefined;
  if (args.values("file").length > 0) throw usageFailure("--pushed deploys the folder as it is: leave -f out");
  return appIdentity(text.includes("/") ? text : `${text}/web`);
}

/** Who may push to one scope changes no other. */
export function requireScope({ manifests, places }: ManifestSet, { scope }: Pushed): void {
  const index = manifests.findIndex((manifest) => manifest.scope !== scope);
  if (index === -1) return;
  const other = manifests[index]?.scope;
  const found = typeof other === "string" ? `this is of "${other}"` : "this has none";
  throw new CommandFailure(`${places[index]}: a push to ${scope} deploys the scope "${scope}" alone, and ${found}`);
}

/** As of `berth up -y --atomic`; blocks of plugins cannot be put back, so that with them each resource is by itself. */
export function pushedArguments(args: Arguments, { manifests }: ManifestSet): Arguments {
  const atomic = manifests.every(({ kind }) => typeof kind === "string" && isOwn(kind));
  return { ...args, on: (flag) => flag === "yes" || (flag === "atomic" && atomic) || args.on(flag) };
}

function isOwn(kind: string): boolean {
  const known = normalKind(kind);
  return known.toLowerCase() === "app" || coreKinds.some((core) => core === known);
}
