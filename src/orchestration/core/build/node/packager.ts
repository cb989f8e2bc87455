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
  /** Installs a tool that the image of Node does not have. The start needs it too, and has no network. */
  prepare?: string | undefined;
  /** Variables of the install. */
  env?: string | undefined;
}

/** The version that package.json names, else the one that reads the lock file. */
function pnpmVersion(tree: SourceTree, packageManager: string): string {
  const named = /^pnpm@(\d+\.\d+\.\d+)/.exec(packageManager)?.[1];
  const lock = /^lockfileVersion: ["']?(\d+\.\d+)/m.exec(tree.read("pnpm-lock.yaml")?.slice(0, 1000) ?? "")?.[1] ?? "";
  const settings = tree.read("pnpm-workspace.yaml");
  // The ninth asks for packages in that file, and runs the install scripts that the tenth does not.
  const isNew = settings !== undefined && !/^packages:/m.test(settings);
  return named ?? { "5.3": "6", "5.4": "7", "6.0": "8", "6.1": "8" }[lock] ?? (isNew ? "10" : "9");
}

/** Yarn from its second version on: the image has the first, which hands over to a file of the repository. */
function berryTool(tree: SourceTree, packageManager: string): string | undefined {
  if (/^yarnPath:/m.test(tree.read(".yarnrc.yml") ?? "")) return undefined;
  const named = /^yarn@(\d+\.\d+\.\d+)/.exec(packageManager)?.[1];
  const lock = /^ {2}version: (\d+)/m.exec(tree.read("yarn.lock")?.slice(0, 1000) ?? "")?.[1];
  return `npm install -g --force @yarnpkg/cli-dist@${named ?? (Number(lock ?? 8) < 7 ? "3" : "4")}`;
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
      ...{
        name: "pnpm",
        run: "pnpm run",
        exec: "pnpm exec",
        prepare: `npm install -g pnpm@${pnpmVersion(tree, packageManager)}`,
      },
      files: here("pnpm-lock.yaml", "pnpm-workspace.yaml"),
      install: `pnpm install${tree.has("pnpm-lock.yaml") ? " --frozen-lockfile" : ""}`,
    };
  }
  if (named === "yarn" || (named === undefined && tree.has("yarn.lock"))) {
    const isBerry = Number(major) >= 2 || tree.has(".yarnrc.yml");
    return {
      ...{ name: "yarn", run: "yarn run", exec: isBerry ? "yarn exec" : "yarn run" },
      prepare: isBerry ? berryTool(tree, packageManager) : undefined,
      // The user that starts the program cannot read a cache of root.
      env: isBerry ? "YARN_ENABLE_GLOBAL_CACHE=false YARN_ENABLE_TELEMETRY=false" : undefined,
      files: here("yarn.lock", ".yarnrc.yml", ".yarnrc"),
      install: tree.has("yarn.lock") ? `yarn install ${isBerry ? "--immutable" : "--frozen-lockfile"}` : "yarn install",
    };
  }
  const files = here("package-lock.json", "npm-shrinkwrap.json");
  return { name: "npm", files, install: files.length > 0 ? "npm ci" : "npm install", run: "npm run", exec: "npx" };
}

const compiles = ["python3", "make", "g++"];
/** What packages need of Debian: to build what they have no binary for, or to run. */
const libraries: readonly [packages: readonly string[], debian: readonly string[]][] = [
  [
    [
      ...[
        "node-sass",
        "bcrypt",
        "sqlite3",
        "better-sqlite3",
        "argon2",
        "canvas",
        "zeromq",
        "serialport",
        "usb",
        "node-gyp",
        "re2",
      ],
      ...[
        "isolated-vm",
        "libpq",
        "pg-native",
        "ffi-napi",
        "leveldown",
        "robotjs",
        "node-pty",
        "deasync",
        "sodium-native",
        "@discordjs/opus",
        "node-opus",
        "sodium",
        "hiredis",
        "kerberos",
        "odbc",
        "oracledb",
        "bufferutil",
      ],
    ],
    compiles,
  ],
  [["pg-native", "libpq"], ["libpq-dev"]],
  [["fluent-ffmpeg"], ["ffmpeg"]],
  [["gm", "imagemagick"], ["imagemagick"]],
  [["simple-git", "nodegit"], ["git"]],
  [["puppeteer"], ["chromium", "fonts-liberation"]],
];

export function nodeLibraries(dependencies: Readonly<Record<string, string>>): string[] {
  const found = libraries.flatMap(([packages, debian]) =>
    packages.some((name) => dependencies[name] !== undefined) ? debian : [],
  );
  const fetches = Object.values(dependencies).some((range) =>
    /^(?:git[+:@]|github:|gitlab:|bitbucket:|[\w-]{1,100}\/[\w.-]{1,100}(?:#|$))|\.git(?:#|$)/.test(
      range.slice(0, 300),
    ),
  );
  return [...new Set([...found, ...(fetches ? ["ca-certificates", "git"] : [])])].toSorted();
}

/** A browser of Debian in place of one that an install fetches. */
export function browserLines({ puppeteer }: Readonly<Record<string, string>>): string[] {
  return puppeteer === undefined
    ? []
    : [
        "ENV PUPPETEER_SKIP_DOWNLOAD=true PUPPETEER_SKIP_CHROMIUM_DOWNLOAD=true PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium",
      ];
}
