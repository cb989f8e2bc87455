import dockerignore from "@balena/dockerignore";
import type { IgnoreRules } from "../../base/pure/git-rules.ts";

/** The rules of a `.dockerignore`: from the root of the folder, and what is left out may come back. */
export function dockerRules(text: string): IgnoreRules {
  const rules = dockerignore({ ignorecase: false }).add(text);
  return { leavesOut: (path) => rules.ignores(path.replace(/\/$/, "")), prunes: !/^\s*!/m.test(text) };
}
