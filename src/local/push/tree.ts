import { existsSync, mkdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { linkProblem } from "../../base/pure/source-tree.ts";
import { runGit } from "./git.ts";
import { refused, type TreeLimits, treeList } from "./tree-list.ts";

/** What is in a pushed tree that the operator should know of. */
export interface PushedTree {
  files: number;
  submodules: string[];
  usesLfs: boolean;
}

/**
 * Writes the files of a commit into `folder`. Nothing of them is run, and no filter, hook or submodule of the repository
 * has a part in it. Fails `invalid` for links that lead out of the tree, names that no path can have, and beyond `limits`.
 */
export async function writeTree(
  commit: string,
  place: { folder: string; index: string; env: Record<string, string> },
  limits: TreeLimits,
): Promise<PushedTree> {
  const { folder, index, env } = place;
  const list = treeList(limits);
  await runGit(["ls-tree", "-r", "-z", "-l", "--full-tree", commit], { env, read: list.take });
  const { files, links, submodules } = list.end();
  mkdirSync(folder, { mode: 0o700 });
  const own = { ...env, GIT_INDEX_FILE: index, GIT_WORK_TREE: folder };
  await runGit(["read-tree", commit], { env: own });
  await withUsualModes(() => runGit(["checkout-index", "--all", "--force", "--quiet"], { env: own }));
  const root = realpathSync(folder);
  for (const path of links) requireWithin(root, path);
  return { files, submodules, usesLfs: usesLfs(folder) };
}

/** The modes of files in an image must not depend on the umask of the server. */
export async function withUsualModes<T>(work: () => Promise<T>): Promise<T> {
  const before = process.umask(0o022);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}

/** A link through another link can lead further than its own text says. */
export function requireWithin(root: string, path: string): void {
  const link = join(root, path);
  const problem = linkProblem(path, readlinkSync(link));
  if (problem !== undefined) throw refused(path, problem);
  if (!existsSync(link)) return;
  const real = realpathSync(link);
  if (real !== root && !real.startsWith(`${root}/`)) throw refused(path, "leads out of the folder");
}

const attributesBytesMax = 1024 * 1024;

function usesLfs(folder: string): boolean {
  const path = join(folder, ".gitattributes");
  const isShort = existsSync(path) && statSync(path).isFile() && statSync(path).size < attributesBytesMax;
  return isShort && /\bfilter=lfs\b/.test(readFileSync(path, "utf8"));
}
