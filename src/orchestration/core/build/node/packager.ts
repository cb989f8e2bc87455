import { firstOf, type SourceTree } from "../runtime.ts";
import type { NodeApp } from "./backends.ts";
import { type PackageJson, prismaWords, reached } from "./package-json.ts";

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

/** Files that name what installs, each its own. */
const locks = [
  ...["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"],
  ...["pnpm-workspace.yaml", ".yarnrc.yml"],
];

/** Without a lock file, the tool that the scripts of a build and a start call. */
function calledTool(tree: SourceTree, found: PackageJson): string | undefined {
  if (firstOf(tree, locks) !== undefined) return undefined;
  const tools = ["pnpm", "bun"].filter((tool) => calls(found, tool));
  return tools.length === 1 ? tools[0] : undefined;
}

function calls({ scripts }: PackageJson, tool: string): boolean {
  const names = ["preinstall", "postinstall", "prepare", "prebuild", "build", "prestart", "start", "start:prod"];
  const called = new RegExp(String.raw`(?:^|[&|;(]|\s)(?:${tool === "bun" ? "bunx?" : tool}) [\w@./-]`);
  return reached(scripts, names).some((text) => called.test(text.slice(0, 4000)) && !text.includes("only-allow"));
}

/** Tools that scripts call, and that the image of the packager does not have: the second line of what prepares it. */
function toolsBeside(tree: SourceTree, found: PackageJson, packager: Packager): string | undefined {
  if (packager.name === "bun") return packager.prepare;
  const tools = [
    ...(packager.name !== "pnpm" && calls(found, "pnpm")
      ? [`pnpm@${pnpmVersion(tree, found.packageManager ?? "")}`]
      : []),
    ...(found.dependencies.bun === undefined && calls(found, "bun") ? ["bun@1"] : []),
  ];
  if (tools.length === 0) return packager.prepare;
  const own = `npm install -g ${tools.join(" ")}`;
  return packager.prepare === undefined ? own : `${packager.prepare} && ${own}`;
}

export function packagerOf(tree: SourceTree, found: PackageJson): Packager {
  const packager = ownPackager(tree, found);
  return { ...packager, prepare: toolsBeside(tree, found, packager) };
}

function ownPackager(tree: SourceTree, found: PackageJson): Packager {
  const { packageManager = "" } = found;
  const [, asked = calledTool(tree, found), major = ""] = /^(npm|pnpm|yarn|bun)@(\d+)?/.exec(packageManager) ?? [];
  const named =
    asked ?? (tree.has("pnpm-workspace.yaml") && firstOf(tree, locks.slice(0, 6)) === undefined ? "pnpm" : undefined);
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

/** What makes the client of Prisma for a schema; undefined without one. */
export function clientOfPrisma(
  { tree, folder }: Pick<NodeApp, "tree" | "folder">,
  packager: Packager,
  packages: Readonly<Record<string, string>>,
): { command: string; note?: string } | undefined {
  const schema = firstOf(tree, [`${folder}prisma/schema.prisma`, `${folder}schema.prisma`]);
  if (schema === undefined) return undefined;
  if (packages.prisma !== undefined) return { command: `${packager.exec} prisma generate` };
  if (packages["@prisma/client"] === undefined) return undefined;
  const command = [...prismaWords(packages, packager.name), "generate"].join(" ");
  return {
    command,
    note: `the packages have no prisma, which makes the client of ${schema}, so "${command}" is run; add it to devDependencies`,
  };
}
