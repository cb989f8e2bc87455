import gitignore from "ignore";

/** Says of a path below the folder whether it is left out; a folder's path ends in "/". */
export interface IgnoreRules {
  leavesOut(path: string): boolean;
  /** Nothing in a folder that is left out can come back, so it need not be looked into. */
  prunes: boolean;
}

/** The rules of a `.gitignore` in the folder `below` (empty for the root): they hold in it and in what it holds. */
export function gitRules(text: string, below: string): IgnoreRules {
  const rules = gitignore({ ignorecase: false }).add(text);
  return {
    leavesOut: (path) => path.startsWith(below) && path !== below && rules.ignores(path.slice(below.length)),
    prunes: true,
  };
}
