import type { SourceTree } from "../../src/orchestration/core/build/runtime.ts";

/** A folder with source that is only in memory: paths and texts. */
export function treeOf(files: Readonly<Record<string, string>>): SourceTree {
  const paths = Object.keys(files);
  const within = (folder: string) => (folder === "" ? "" : `${folder.replace(/\/$/, "")}/`);
  return {
    has: (path) => paths.some((file) => file === path || file.startsWith(within(path))),
    read: (path) => files[path],
    list: (folder) => {
      const names = paths
        .filter((file) => file.startsWith(within(folder)))
        .map((file) => /^[^/]+\/?/.exec(file.slice(within(folder).length))?.[0] ?? "");
      return [...new Set(names)].toSorted();
    },
  };
}
