import { coreKinds } from "../../orchestration/api/manifest.ts";
import { listManifests } from "../../orchestration/api/apply.ts";
import type { Context } from "./command.ts";
import { CommandFailure } from "../basics/failures.ts";
import { kindNamed } from "../basics/kinds.ts";
import { parseReference, splitReplica } from "../basics/reference.ts";
import { printable } from "../basics/style.ts";
import { closest, didYouMean } from "../basics/suggest.ts";

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
  if (isPod) throw new CommandFailure(`no pod "${reference}"; see: berth get pods`);
  throw await nothingNamed(reference, { api });
}

/** For a reference that names nothing: what to write instead, where the word is a name in some scope. */
export async function nothingNamed(
  reference: string,
  { api }: Pick<Context, "api">,
  what = "",
): Promise<CommandFailure> {
  const isWord = !reference.includes("/") && what === "";
  const bare = isWord ? await bareName(reference, api) : undefined;
  return bare ?? new CommandFailure(nothingText(reference, what, await nameMeant(reference, { api })));
}

/**
 * `: did you mean "shop/web"?` for a name or a scope that nothing stored has, or nothing. `kinds`: only what is one of
 * them is meant.
 */
export async function nameMeant(
  reference: string,
  { api }: Pick<Context, "api">,
  kinds?: readonly string[],
): Promise<string> {
  const { word, scope = "", name = "" } = parseReference(reference);
  // It is already an error; if the server cannot say what is stored, that must not hide it.
  const stored = await api.call(listManifests, { query: {} }).catch(() => []);
  const known = stored.filter((one) => one.scope && (kinds?.includes(one.kind) ?? true));
  const scopes = [...new Set(known.map((one) => one.scope ?? ""))];
  if (word !== undefined) return didYouMean(word, scopes);
  const inScope = known.filter((one) => one.scope === scope).map((one) => one.name);
  const near = closest(name, inScope);
  if (near !== undefined) return `: did you mean "${scope}/${near}"?`;
  const elsewhere = known.find((one) => one.name === name);
  if (elsewhere !== undefined) return `: did you mean "${elsewhere.scope}/${name}"?`;
  const references = known.map((one) => `${one.scope}/${one.name}`);
  return didYouMean(`${scope}/${name}`, references);
}

/** Fails for a word that is not a scope, and the name of something in one. */
export async function refuseBareName(reference: string, { api }: Pick<Context, "api">): Promise<void> {
  const { word } = parseReference(reference);
  if (word === undefined || (await api.call(listManifests, { query: { scope: word } })).length > 0) return;
  const failure = await bareName(word, api);
  if (failure !== undefined) throw failure;
}

async function bareName(word: string, api: Context["api"]): Promise<CommandFailure | undefined> {
  const stored = await api.call(listManifests, { query: { name: word } });
  const example = stored.find(({ scope, name }) => scope && name === word);
  if (example === undefined) return undefined;
  const text = `no scope "${word}": write SCOPE/NAME, for example: ${example.scope}/${example.name}`;
  return new CommandFailure(printable(text));
}

/** A word alone is taken for a scope, so a mistyped kind ends here. */
function nothingText(reference: string, what: string, meant: string): string {
  const see = meant || "; see: berth get all";
  if (reference.includes("/")) return printable(`no ${what || "resource "}"${reference}"${see}`);
  if (what !== "") return printable(`no ${what}in scope "${reference}"${meant}`);
  return printable(`no scope "${reference}"${didYouMean(reference, kindWords) || see}`);
}

interface Bucket {
  /** As written. */
  text: string;
  scope: string;
  name?: string | undefined;
}

/** Config and locks may come before what they are for; a mistyped name looks the same. `so`: what it means. */
export async function noteUnstored(
  { text, scope, name }: Bucket,
  { api, terminal }: Pick<Context, "api" | "terminal">,
  so: string,
): Promise<void> {
  // It is already done: a server that cannot say what is stored is not a failure.
  const stored = await api.call(listManifests, { query: { scope, name } }).catch(() => undefined);
  if (stored?.length !== 0) return;
  const meant = (await nameMeant(text, { api })).replace(/^: did/, ". Did");
  terminal.note(
    `${terminal.noteStyle.yellow("!")} nothing is stored under ${printable(text)} yet: ${so}${printable(meant)}`,
  );
}
