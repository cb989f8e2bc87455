import { sourcesOf } from "./evidence/sources.ts";
import type { SourceTree } from "./runtime.ts";

/** Names of what a compiled program reads while it runs, by custom. */
const folders = [
  ...["assets", "config", "configs", "data", "html", "i18n", "locales", "migrations", "pages", "public", "static"],
  ...["templates", "tmpl", "ui", "views", "web", "www"],
];
const files = ["Rocket.toml", "config.json", "config.toml", "config.yaml", "config.yml", "index.html"];
/** Source, and no data. */
const code = /\.(?:go|rs)$/;
const looksMax = 200;

/** Those of a folder that hold something else than source, with the lines that copy them beside the program. */
export function runtimeFolders(tree: SourceTree, isSource: (folder: string) => boolean, language: string): string[] {
  const text = sourcesOf(tree, language)
    .files.map((file) => file.text)
    .join("\n");
  const isNamed = (folder: string) =>
    [`"${folder}"`, `"${folder}/`, `"./${folder}`, `"/${folder}/`].some((words) => text.includes(words));
  const others = tree
    .list("")
    .filter(
      (name) => /^[a-z][\w-]{1,40}\/$/i.test(name) && !/^(?:src|target|cmd|pkg|internal|tests?|docs?)\/$/.test(name),
    )
    .map((name) => name.slice(0, -1));
  const all = [...new Set([...folders, ...others.filter(isNamed)])];
  const there = all.filter((folder) => tree.list(folder).length > 0 && !isSource(folder) && holdsData(tree, folder));
  const copied = [...there.map((folder) => `${folder}/`), ...files.filter((file) => tree.has(file))];
  return copied.map((path) => `COPY ${path} ${path.endsWith("/") ? `./${path}` : "./"}`);
}

function holdsData(tree: SourceTree, root: string): boolean {
  const queue = [root];
  for (let looks = 0; queue.length > 0 && looks < looksMax; looks++) {
    const folder = queue.shift() ?? "";
    for (const name of tree.list(folder)) {
      if (name.endsWith("/")) queue.push(`${folder}/${name.slice(0, -1)}`);
      else if (!code.test(name)) return true;
    }
  }
  return false;
}
