import { coreKinds } from "../../orchestration/api/manifest.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import type { Context } from "./command.ts";
import { CommandFailure } from "./failures.ts";
import { kindNamed } from "./kinds.ts";
import { parseReference, splitReplica } from "./reference.ts";
import { didYouMean } from "./suggest.ts";

/** What may stand where a kind is expected. */
export const kindWords = ["pods", "all", "leftovers", ...coreKinds.map((kind) => `${kind}s`)];

/** For an answer that is empty: a name that nothing stored has is an error. */
export async function requireNamed(reference: string | undefined, { api }: Context): Promise<void> {
  if (reference === undefined) return;
  const { word, kind, scope, name } = parseReference(reference);
  if (word !== undefined && kindNamed(word) !== undefined) return;
  const stored = await api.call(listManifests, { query: { kind, scope: scope ?? word, name } });
  if (stored.length > 0) return;
  const isPod = name !== undefined && splitReplica(name) !== undefined;
  throw new CommandFailure(isPod ? `no pod "${reference}"; see: berth get pods` : nothingText(reference));
}

/** A word alone is taken for a scope, so a mistyped kind ends here. */
export function nothingText(reference: string, what = ""): string {
  if (reference.includes("/")) return `no ${what || "resource "}"${reference}"; see: berth get all`;
  if (what !== "") return `no ${what}in scope "${reference}"`;
  return `no scope "${reference}"${didYouMean(reference, kindWords) || "; see: berth get all"}`;
}
