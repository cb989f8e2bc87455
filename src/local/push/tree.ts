import { existsSync, mkdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { linkProblem, pathProblem } from "../../base/pure/source-tree.ts";
import { runGit } from "./git.ts";
import { Failure } from "../../base/wire/failure.ts";

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

interface TreeLimits {
  filesMax: number;
  bytesMax: number;
}

/** What a push is refused for. */
function refused(path: string, problem: string): Failure {
  return new Failure("invalid", `${JSON.stringify(path)} ${problem}`);
}

/** Reads `git ls-tree -r -z -l` as it comes, and stops at the first thing that cannot be. */
export function treeList(limits: TreeLimits) {
  const found = { files: 0, bytes: 0, links: [] as string[], submodules: [] as string[] };
  const decoder = new TextDecoder();
  let rest = "";
  const entry = (line: string) => {
    const [, mode = "", size = "", path = ""] = /^(\d+) \w+ [0-9a-f]+ +(\d+|-)\t([\s\S]*)$/.exec(line) ?? [];
    const problem = pathProblem(path);
    if (problem !== undefined) throw refused(path, problem);
    if (mode === "160000") found.submodules.push(path);
    else if (mode === "120000") found.links.push(path);
    found.files += 1;
    found.bytes += Number(size) || 0;
    if (found.files > limits.filesMax) throw new Failure("invalid", `more than ${limits.filesMax} files`);
    if (found.bytes > limits.bytesMax) throw new Failure("invalid", `more than ${limits.bytesMax} bytes of files`);
  };
  return {
    take(part: Uint8Array): void {
      const lines = (rest + decoder.decode(part, { stream: true })).split("\0");
      rest = lines.pop() ?? "";
      for (const line of lines) entry(line);
    },
    end: () => found,
  };
}
