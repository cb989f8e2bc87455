import { pathProblem } from "../../base/pure/source-tree.ts";
import { Failure } from "../../base/wire/failure.ts";

export interface TreeLimits {
  filesMax: number;
  bytesMax: number;
}

/** What a push is refused for. */
export function refused(path: string, problem: string): Failure {
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
