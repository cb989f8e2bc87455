import { gitRules, type IgnoreRules } from "../../base/pure/git-rules.ts";
import { isBulk, isSecretFile } from "../../base/pure/left-out.ts";

/** A file of a folder that the viewer chose. */
interface Picked {
  /** As the browser says it, with the name of the folder first. */
  webkitRelativePath: string;
  text(): Promise<string>;
}

interface Chosen<F> {
  files: { path: string; file: F }[];
  /** Files that look like secrets: they stay on the machine of the viewer. */
  secrets: string[];
  /** How many others are left out. */
  left: number;
}

/**
 * What of a folder is sent: not what berth always leaves out, nor what its `.gitignore` files do. With a `.dockerignore`
 * the server decides the latter. The server applies all rules once more.
 */
export async function pickFiles<F extends Picked>(all: readonly F[]): Promise<Chosen<F>> {
  const named = all.map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/"), file }));
  const wanted = named.filter(({ path }) => path !== "" && !isBulk(path));
  const usesGit = !wanted.some(({ path }) => path === ".dockerignore");
  const rules = usesGit ? await rulesOf(wanted) : undefined;
  const secrets = wanted.filter(({ path }) => isSecretFile(path)).map(({ path }) => path);
  const files = wanted.filter(({ path }) => !isSecretFile(path) && !isLeftOut(path, rules));
  return { files, secrets, left: named.length - files.length - secrets.length };
}

/** Those of the root first, as the rules of a folder come before those of the folders around it. */
async function rulesOf<F extends Picked>(
  files: readonly { path: string; file: F }[],
): Promise<IgnoreRules | undefined> {
  const ignores = files
    .filter(({ path }) => path === ".gitignore" || path.endsWith("/.gitignore"))
    .toSorted((a, b) => a.path.split("/").length - b.path.split("/").length);
  let rules: IgnoreRules | undefined;
  for (const { path, file } of ignores) rules = gitRules(await file.text(), path.slice(0, -".gitignore".length), rules);
  return rules;
}

/** By itself, or with a folder that it is in. */
function isLeftOut(path: string, rules: IgnoreRules | undefined): boolean {
  if (rules === undefined) return false;
  const parts = path.split("/");
  const places = parts.map((_, index) => parts.slice(0, index + 1).join("/") + (index < parts.length - 1 ? "/" : ""));
  return places.some((place) => rules.leavesOut(place));
}
