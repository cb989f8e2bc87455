import gitignore from "ignore";

/** Says of a path below the folder whether it is left out; a folder's path ends in "/". */
export interface IgnoreRules {
  leavesOut(path: string): boolean;
  /** Nothing in a folder that is left out can come back, so it need not be looked into. */
  prunes: boolean;
}

/**
 * The rules of a `.gitignore` in the folder `below` (empty for the root): they hold in it and in what it holds. `around` are
 * the rules of the folders around it: a line here comes before all of theirs, so `!keep.log` brings that file back.
 */
export function gitRules(text: string, below: string, around?: IgnoreRules): IgnoreRules {
  const rules = gitignore({ ignorecase: false }).add(text);
  const isSaid = (path: string) => {
    const { ignored, unignored } = rules.test(path);
    return ignored || unignored;
  };
  let own: Line[] | undefined;
  /** Whether it is left out; undefined: no line is about it. */
  const says = (path: string): boolean | undefined => {
    if (!isSaid(path)) return undefined;
    const parent = parentOf(path);
    // What the package says of a folder, it says of all below it. A line below may have brought that folder back.
    if (parent === "" || !isSaid(parent)) return rules.test(path).ignored;
    own ??= linesOf(text);
    const last = own.findLast((line) => isAbout(line, path, parent));
    return last === undefined ? undefined : !last.bringsBack;
  };
  return {
    leavesOut(path) {
      const said = path.startsWith(below) && path !== below ? says(path.slice(below.length)) : undefined;
      return said ?? around?.leavesOut(path) ?? false;
    },
    prunes: true,
  };
}

/** One line of a `.gitignore`. */
interface Line {
  bringsBack: boolean;
  matches: (path: string) => boolean;
  /** Whether the pattern can match a path and a folder that the path is in. */
  isDeep: boolean;
  onlyFolders: boolean;
  /** Its part after the last slash, for the name of a file or folder. */
  matchesName: (name: string) => boolean;
}

function linesOf(text: string): Line[] {
  return text.split("\n").map((line) => {
    const bringsBack = line.startsWith("!");
    const pattern = (bringsBack ? line.slice(1) : line).trimEnd();
    const matcher = (words: string) => {
      const rules = gitignore({ ignorecase: false }).add(words);
      return (path: string) => rules.ignores(path);
    };
    const parts = pattern.replace(/\/$/, "").split("/");
    const last = parts.at(-1) ?? "";
    return {
      bringsBack,
      matches: matcher(pattern),
      isDeep: parts.length === 1 || pattern.includes("**"),
      onlyFolders: pattern.endsWith("/"),
      matchesName: last === "**" ? () => true : matcher(last),
    };
  });
}

/** Whether a line is about the path itself, and not only about a folder that the path is in. */
function isAbout(line: Line, path: string, parent: string): boolean {
  if (!line.matches(path)) return false;
  if (!line.matches(parent)) return true;
  const isFolder = path.endsWith("/");
  const name = path.slice(parent.length).replace(/\/$/, "");
  return line.isDeep && (isFolder || !line.onlyFolders) && line.matchesName(name);
}

/** The folder that holds a path, with a slash at its end; empty for none. */
function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/", path.length - 2) + 1);
}
