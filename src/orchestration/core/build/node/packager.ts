import { firstOf, type SourceTree } from "../runtime.ts";
import type { PackageJson } from "./package-json.ts";

/** What installs packages and runs scripts. */
export interface Packager {
  name: "npm" | "pnpm" | "yarn" | "bun";
  /** Files beside package.json that an install reads. */
  files: string[];
  install: string;
  /** In front of the name of a script. */
  run: string;
  /** In front of a program that a package brings. */
  exec: string;
  prepare?: string;
}

export function packagerOf(tree: SourceTree, { packageManager = "" }: PackageJson): Packager {
  const [, named, major = ""] = /^(npm|pnpm|yarn|bun)@(\d+)?/.exec(packageManager) ?? [];
  const here = (...paths: string[]) => paths.filter((path) => tree.has(path));
  const bunLock = firstOf(tree, ["bun.lock", "bun.lockb"]);
  if (named === "bun" || (named === undefined && bunLock !== undefined)) {
    const install = `bun install${bunLock === undefined ? "" : " --frozen-lockfile"}`;
    return { name: "bun", files: here("bun.lock", "bun.lockb", "bunfig.toml"), install, run: "bun run", exec: "bunx" };
  }
  if (named === "pnpm" || (named === undefined && tree.has("pnpm-lock.yaml"))) {
    return {
      ...{ name: "pnpm", run: "pnpm run", exec: "pnpm exec", prepare: "corepack enable" },
      files: here("pnpm-lock.yaml", "pnpm-workspace.yaml"),
      install: `pnpm install${tree.has("pnpm-lock.yaml") ? " --frozen-lockfile" : ""}`,
    };
  }
  if (named === "yarn" || (named === undefined && tree.has("yarn.lock"))) {
    const isBerry = Number(major) >= 2 || tree.has(".yarnrc.yml");
    return {
      ...{ name: "yarn", run: "yarn run", exec: isBerry ? "yarn exec" : "yarn run", prepare: "corepack enable" },
      files: here("yarn.lock", ".yarnrc.yml", ".yarnrc"),
      install: tree.has("yarn.lock") ? `yarn install ${isBerry ? "--immutable" : "--frozen-lockfile"}` : "yarn install",
    };
  }
  const files = here("package-lock.json", "npm-shrinkwrap.json");
  return { name: "npm", files, install: files.length > 0 ? "npm ci" : "npm install", run: "npm run", exec: "npx" };
}
