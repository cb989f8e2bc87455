import { compiledIn, sourcesOf } from "./evidence/sources.ts";
import { nodeVersion, readPackage } from "./node/package-json.ts";
import { packagerOf } from "./node/packager.ts";
import { inFolder } from "./node/parts.ts";
import { plainName, type SourceTree } from "./runtime.ts";

/** Pages that a program takes in when it is compiled, and that a package.json builds. */
export interface FrontEnd {
  /** A stage that builds them, before that of the program. */
  stage: string[];
  /** Lines that put them into the sources of the program. */
  copies: string[];
  notes: string[];
}

/** What `//go:embed web/dist` or rust-embed asks for, where a folder of the tree has a build script that makes it. */
export function frontEndOf(tree: SourceTree, language: "go" | "rust"): FrontEnd {
  const missing = compiledIn(tree, sourcesOf(tree, language).files).map(({ name }) => name.replace(/\/\*.{0,20}$/, ""));
  const found = [...new Set(missing)].flatMap((name) => {
    const folder = builderOf(tree, name);
    return folder === undefined || plainName(name) === undefined ? [] : [{ name, folder }];
  });
  const folders = [...new Set(found.map(({ folder }) => folder))];
  if (folders.length === 0) return { stage: [], copies: [], notes: [] };
  const builds = folders.map((folder) => {
    const part = inFolder(tree, folder);
    const { install, run, prepare } = packagerOf(part, readPackage(part));
    return `RUN ${[`cd ${folder}`, ...(prepare === undefined ? [] : [prepare]), install, `${run} build`].join(" && ")}`;
  });
  const part = inFolder(tree, folders[0] ?? "");
  const { name: tool } = packagerOf(part, readPackage(part));
  const base = tool === "bun" ? "oven/bun:1" : `node:${nodeVersion(part, readPackage(part))}-slim`;
  return {
    stage: [`FROM ${base} AS pages`, "WORKDIR /src", "COPY . .", ...builds],
    copies: found.map(({ name }) => `COPY --from=pages /src/${name} ./${name}`),
    notes: [`${folders.join(", ")} is built by its package.json, and the program takes its pages in`],
  };
}

/** The folder whose build script makes a path: the one around it, or one whose settings name it. */
function builderOf(tree: SourceTree, path: string): string | undefined {
  const parts = path.split("/");
  const around = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
  const builds = (folder: string) => readPackage(tree, `${folder}/`).scripts.build !== undefined;
  const near = around.toReversed().find(builds);
  if (near !== undefined) return near;
  const others = tree
    .list("")
    .flatMap((name) => (name.endsWith("/") && builds(name.slice(0, -1)) ? [name.slice(0, -1)] : []));
  return others.find((folder) => {
    const settings = ["js", "ts", "mjs", "mts"]
      .map((end) => tree.read(`${folder}/vite.config.${end}`) ?? "")
      .join("\n");
    const named = /outDir\s{0,5}:\s{0,5}["'](?:\.\.\/)([\w./-]{1,120}?)\/?["']/.exec(settings)?.[1];
    return plainName(folder) !== undefined && named !== undefined && (path === named || path.startsWith(`${named}/`));
  });
}
