import { readHints } from "../hints/hints.ts";
import { plainName, type SourceTree } from "../runtime.ts";
import { type PackageJson, reached, readPackage } from "./package-json.ts";
import { packagerOf } from "./packager.ts";

/** Folders with a package.json of their own that scripts of the root enter: `cd client && npm run build`. */
export function enteredFolders(tree: SourceTree, { scripts, workspaces }: PackageJson, names: string[]): string[] {
  if (workspaces.length > 0) return [];
  const text = reached(scripts, names).join("\n").slice(0, 8000);
  const named = [
    ...text.matchAll(/\bcd (?:\.\/)?([\w.@/-]+)/g),
    ...text.matchAll(/--(?:prefix|cwd|dir)[= ](?:\.\/)?([\w.@/-]+)/g),
    ...text.matchAll(/ -C (?:\.\/)?([\w.@/-]+)/g),
    ...text.matchAll(/\b(?:node|tsx|ts-node) (?:\.\/)?([\w.@-]+)\/[\w./-]+/g),
  ].map(([, folder = ""]) => plainName(folder.replace(/\/$/, "")));
  const isPackage = (folder: string | undefined): folder is string =>
    folder !== undefined && !folder.includes("..") && tree.has(`${folder}/package.json`);
  return [...new Set(named.filter(isPackage))];
}

/** Lines that install what such a folder needs, unless a script of the root does. */
export function partInstalls(tree: SourceTree, folders: string[], text: string): string[] {
  return folders
    .filter((folder) => !installs(text, folder))
    .map(
      (folder) => `RUN cd ${folder} && ${packagerOf(inFolder(tree, folder), readPackage(tree, `${folder}/`)).install}`,
    );
}

function installs(text: string, folder: string): boolean {
  const at = [`cd ${folder}`, `cd ./${folder}`, `--prefix ${folder}`, `--prefix=${folder}`, `--prefix ./${folder}`];
  return text.split(/&&|;/).some((part, index, parts) => {
    const isInstall = /\b(?:npm|pnpm|bun) (?:.{0,80} )?(?:i|ci|install)\b|\byarn(?: install)?\s*$/.test(
      part.slice(0, 200),
    );
    return isInstall && at.some((words) => `${parts[index - 1] ?? ""}&&${part}`.includes(words));
  });
}

/** A folder of a tree as a tree. */
export function inFolder(tree: SourceTree, folder: string): SourceTree {
  const within = folder === "" ? "" : `${folder.replace(/\/$/, "")}/`;
  return {
    has: (path) => tree.has(within + path),
    read: (path) => tree.read(within + path),
    list: (path) => tree.list((within + path).replace(/\/$/, "")),
  };
}

/** The script that makes what runs: what other platforms run, `heroku-postbuild`, else `build`. */
export function buildScript(tree: SourceTree, { scripts }: PackageJson): string | undefined {
  const line = readHints(tree).build?.value.slice(0, 2000) ?? "";
  const named = [...line.matchAll(/\b(?:npm|pnpm|yarn|bun)(?: run)? ([\w:-]+)/g)].map(([, name = ""]) => name);
  const hinted = named.find((name) => scripts[name] !== undefined && !/^(?:install|ci|start|test)$/.test(name));
  return [hinted, "heroku-postbuild", "build"].find((name) => name !== undefined && scripts[name] !== undefined);
}

/** What of a build script starts the program, so that a build of it never ends. */
export function startInBuild({ scripts }: PackageJson, name: string): string | undefined {
  const parts = (scripts[name] ?? "").slice(0, 4000).split(/&&|;/);
  return parts.map((part) => part.trim()).find((part) => /^(?:npm|pnpm|yarn)(?: run)? (?:start|serve)$/.test(part));
}

/** The file that a script starts and that neither is there nor made by a build. */
export function missingStart(tree: SourceTree, folder: string, script: string): string | undefined {
  const words = script
    .trim()
    .slice(0, 500)
    .split(/\s+/)
    .filter((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [program, ...rest] = words;
  const files = rest.filter((word) => !word.startsWith("-"));
  const named = program === "node" && files.length === 1 ? (files[0] ?? "").replace(/^\.\//, "") : "";
  if (!/^[\w./@-]*$/.test(named)) return undefined;
  if (named === "" || named === ".") return undefined;
  const file = folder + named;
  const isThere = [file, `${file}.js`, `${file}.mjs`, `${file}.cjs`, `${file}/index.js`].some((path) => tree.has(path));
  return isThere ? undefined : named;
}

export const functionsNote =
  "functions of Netlify or Vercel are beside the pages, and nothing runs them here; to serve what they answer, write a program";

/** Whether other platforms run something beside the pages. */
export function hasFunctions(tree: SourceTree): boolean {
  const netlify = tree.read("netlify.toml") ?? "";
  const isNamed = /\/\.netlify\/(?:functions|builders)\/|^[ \t]*(?:functions|edge_functions)[ \t]*=/m.test(netlify);
  return isNamed || tree.has("netlify/functions") || (tree.has("vercel.json") && tree.list("api").length > 0);
}
