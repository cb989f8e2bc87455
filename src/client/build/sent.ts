import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitRules, type IgnoreRules } from "../../base/pure/git-rules.ts";
import { isClutter, isSecretFile, namedFiles } from "../../base/pure/left-out.ts";
import { dockerRules } from "./ignore-rules.ts";
import { inTime } from "./pattern-time.ts";

/** Files of the folder itself that say how it is built or run. They count even where they are not sent. */
const always = new Set(["Dockerfile", "Procfile", "app.json", "render.yaml", "fly.toml", "nixpacks.toml", "Aptfile"]);
for (const ending of ["json", "toml"]) always.add(`railway.${ending}`);
for (const ending of ["example", "sample"]) always.add(`.env.${ending}`);

/**
 * Says of a path in a folder whether a build gets it: what the rules of `.dockerignore` (or of `.gitignore`) and of
 * `.berthignore` leave out decides nothing, such as `dist/` of an older build. Secrets count, as their names say what the
 * program reads.
 */
export function createSent(root: string): (path: string) => boolean {
  const text = (path: string) => (isFile(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined);
  const docker = text(".dockerignore");
  const own = text(".berthignore") ?? "";
  const named = namedFiles(own);
  const fixed = [
    ...(docker === undefined ? [] : [inTime(dockerRules(docker, ".dockerignore"), docker, ".dockerignore")]),
    inTime(gitRules(own, ""), own, ".berthignore"),
  ];
  const gitOf = new Map<string, IgnoreRules | undefined>();
  /** Rules of the `.gitignore` files of a folder and of those around it. */
  const gitIn = (folder: string): IgnoreRules | undefined => {
    if (docker !== undefined || gitOf.has(folder)) return gitOf.get(folder);
    const around = folder === "" ? undefined : gitIn(parentOf(folder));
    const git = text(`${folder}.gitignore`);
    const rules = git === undefined ? around : inTime(gitRules(git, folder, around), git, `${folder}.gitignore`);
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

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
