import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { IgnoreRules } from "../../base/pure/git-rules.ts";
import { isClutter, isSecretFile } from "../../base/pure/left-out.ts";
import { readIgnoreFiles } from "./ignore-files.ts";

/** Files of the folder itself that say how it is built or run. They count even where they are not sent. */
const always = new Set(["Dockerfile", "Procfile", "app.json", "render.yaml", "fly.toml", "nixpacks.toml", "Aptfile"]);
for (const ending of ["json", "toml"]) always.add(`railway.${ending}`);
for (const ending of ["example", "sample"]) always.add(`.env.${ending}`);

/** Size of one file of rules: as where the folder is packed, for what a build gets is what counts here. */
export interface RuleLimits {
  textBytesMax: number;
}

/**
 * Says of a path in a folder whether a build gets it: what the rules of `.dockerignore` (or of `.gitignore`) and of
 * `.berthignore` leave out decides nothing, such as `dist/` of an older build. Secrets count, as their names say what the
 * program reads.
 */
export function createSent(root: string, { textBytesMax }: RuleLimits): (path: string) => boolean {
  const { fixed, named, ...ignore } = readIgnoreFiles(root, { dockerName: ".dockerignore", textBytesMax });
  const gitOf = new Map<string, IgnoreRules | undefined>();
  /** Rules of the `.gitignore` files of a folder and of those around it. */
  const gitIn = (folder: string): IgnoreRules | undefined => {
    if (gitOf.has(folder)) return gitOf.get(folder);
    const rules = ignore.gitIn(folder, folder === "" ? undefined : gitIn(parentOf(folder)));
    gitOf.set(folder, rules);
    return rules;
  };
  const isLeftOut = (path: string) => {
    if (isClutter(path)) return true;
    const isFolder = path.endsWith("/");
    const git = gitIn(parentOf(path));
    const rules = git === undefined ? fixed : [...fixed, git];
    return rules.some((rule) => rule.leavesOut(path) && (rule.prunes || !isFolder));
  };
  return (path) => {
    const clean = path.replace(/^\.\//, "").replace(/\/$/, "");
    if (clean === "" || clean === "." || always.has(clean) || named.has(clean) || isSecretFile(clean)) return true;
    const parts = clean.split("/");
    const folders = parts.slice(0, -1).map((_, index) => `${parts.slice(0, index + 1).join("/")}/`);
    const last = isFolder(join(root, clean)) ? `${clean}/` : clean;
    return ![...folders, last].some(isLeftOut);
  };
}

/** The folder that holds a path, with a slash at its end; empty for the root. */
function parentOf(path: string): string {
  const parent = dirname(path);
  return parent === "." ? "" : `${parent}/`;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
