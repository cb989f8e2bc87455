import { sourcesOf } from "../evidence/sources.ts";
import type { SourceTree } from "../runtime.ts";
import { installScripts, type PackageJson, reached, readPackage } from "./package-json.ts";
import { packagerOf } from "./packager.ts";
import { buildScript, enteredFolders, inFolder } from "./parts.ts";

const served =
  /["'`/](client|frontend|front-end|web|webapp|ui|app)(?:["'`]\s{0,3},\s{0,3}["'`]|\/)(?:build|dist|out)\b/g;

/** Folders of pages that the program serves as a build makes them (`client/build`), and that no script of the root builds. */
export function servedParts(tree: SourceTree, root: PackageJson): string[] {
  if (root.workspaces.length > 0) return [];
  const texts = sourcesOf(tree, "node").files.map(({ text }) => text);
  const named = texts.flatMap((text) => [...text.matchAll(served)].map(([, folder = ""]) => folder));
  const build = buildScript(tree, root);
  const names = [...(build === undefined ? [] : [build]), ...installScripts];
  const built = enteredFolders(tree, root, names);
  return [...new Set(named)].filter(
    (folder) => readPackage(tree, `${folder}/`).scripts.build !== undefined && !built.includes(folder),
  );
}

/** Lines that install what such folders need, and build them. */
export function servedLines(tree: SourceTree, folders: readonly string[]): string[] {
  return folders.map((folder) => {
    const { install, run, prepare } = packagerOf(inFolder(tree, folder), readPackage(tree, `${folder}/`));
    return `RUN ${[...(prepare === undefined ? [] : [prepare]), `cd ${folder}`, install, `${run} build`].join(" && ")}`;
  });
}

const styles =
  /^(?:build[:_-](?:css|sass|scss|styles?|assets|client|frontend|front|js|web|tailwind|prod|production)|sass|scss|css|tailwind|compile[:_-]?(?:sass|css))$/;

/** Scripts that make a part of what is served and that no script "build" runs: `build:css`, `sass`. */
export function partScripts({ scripts }: PackageJson): string[] {
  const names = Object.keys(scripts).filter(
    (name) => styles.test(name) && !/--watch|(?:^|\s)-w(?:\s|$)/.test(scripts[name] ?? ""),
  );
  const ran = reached(scripts, ["build", "heroku-postbuild", "prestart", "start", "postinstall", "prepare"]);
  return names.filter((name) => !ran.includes(scripts[name] ?? "")).slice(0, 3);
}

/** What is said of such folders and scripts. */
export function partNotes(parts: string[], more: string[]): string[] {
  return [
    ...(parts.length === 0 ? [] : [`${parts.join(", ")} is built beside, as the program serves its pages`]),
    ...(more.length === 0
      ? []
      : [
          `${more.join(", ")} of package.json runs after the build, as no script "build" runs it; to change that, add it there`,
        ]),
  ];
}
