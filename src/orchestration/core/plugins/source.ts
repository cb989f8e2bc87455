/** Where a plugin is installed from. */
export type PluginSource =
  { type: "local"; path: string } | { type: "git"; url: string } | { type: "release"; owner: string; repo: string };

export const sourceForm = "write owner/repo, the URL of a git repository, or the path of a folder such as ./my-plugin";

/** Words of owner/repo: what hosts allow, and nothing that could be a flag or a path. */
const word = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}";
const repository = new RegExp(`^(?:(?:https?://)?github\\.com/)?(${word})/(${word}?)(?:\\.git)?/?$`);

/** Undefined where the text is none of them. `isFolder` says whether a relative path names a folder that is there. */
export function parseSource(text: string, isFolder: (path: string) => boolean = () => false): PluginSource | undefined {
  if (text === "" || /[\0-\x20\x7f]/.test(text.trim()) || text.trim() !== text) return localOnly(text);
  if (/^\.{0,2}\//.test(text) || text === "." || text === ".." || isFolder(text)) return { type: "local", path: text };
  const [, owner = "", repo = ""] = repository.exec(text) ?? [];
  if (owner !== "" && !repo.includes("..")) return { type: "release", owner, repo };
  if (/^(?:https?|ssh|git|file):\/\/[^-]/.test(text) || /^[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:[^-]/.test(text)) {
    return { type: "git", url: text };
  }
  return undefined;
}

/** Paths may hold blanks; nothing else may. */
function localOnly(text: string): PluginSource | undefined {
  return /^\.{0,2}\//.test(text) && !text.includes("\0") ? { type: "local", path: text } : undefined;
}

/** Tags that a version may be under, the usual one first: `1.2` and `v1.2` are both `v1.2`, then `1.2`. */
export function tagsOf(version: string): string[] {
  const bare = version.replace(/^v(?=\d)/, "");
  return bare === version && !/^\d/.test(version) ? [version, `v${version}`] : [`v${bare}`, bare];
}

/** Whether a text may stand for a tag or branch: git's own rules, and never a flag. */
export function isVersionWord(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.+/-]{0,127}$/.test(text) && !/\.\.|\/\/|\/$|\.lock$/.test(text);
}
