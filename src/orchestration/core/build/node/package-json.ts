import { hintedVersion } from "../hints/hints.ts";
import { fieldsOf, jsonOf, newestIn, type SourceTree, versionIn } from "../runtime.ts";

/** What a package.json says, as far as a build needs it. */
export interface PackageJson {
  scripts: Record<string, string>;
  /** Names of everything that is installed, with the ranges. */
  dependencies: Record<string, string>;
  main: string | undefined;
  /** Globs of the workspaces. */
  workspaces: string[];
  packageManager: string | undefined;
  node: string | undefined;
  /** More than package.json and a lock file has to be there for an install. */
  installsFromSource: boolean;
}

export const installScripts = ["preinstall", "install", "postinstall", "prepare", "prepublish"];

/** `folder` ends with a slash, or is empty. */
export function readPackage(tree: SourceTree, folder = ""): PackageJson {
  const json = jsonOf(tree, `${folder}package.json`);
  const scripts = texts(json.scripts);
  const dependencies = { ...texts(json.devDependencies), ...texts(json.dependencies) };
  const { main, module, packageManager, engines, volta, pnpm } = json;
  const workspaces = Array.isArray(json.workspaces) ? json.workspaces : fieldsOf(json.workspaces).packages;
  const isLocal = Object.values(dependencies).some((range) =>
    /^(?:file|link|portal|workspace|patch):|^\.\.?\//.test(range),
  );
  return {
    scripts,
    dependencies,
    main: [main, module].find((path): path is string => typeof path === "string"),
    workspaces: [
      ...listOf(workspaces),
      ...pnpmWorkspaces(tree.read(`${folder}pnpm-workspace.yaml`)),
      ...listOf(jsonOf(tree, `${folder}lerna.json`).packages),
    ],
    packageManager: typeof packageManager === "string" ? packageManager : undefined,
    node: texts(volta).node ?? texts(engines).node,
    installsFromSource:
      isLocal ||
      installScripts.some((script) => scripts[script] !== undefined) ||
      fieldsOf(pnpm).patchedDependencies !== undefined ||
      json.patchedDependencies !== undefined ||
      ["prisma", "patches", ".yarn", ".pnpmfile.cjs"].some((path) => tree.has(folder + path)),
  };
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function texts(value: unknown): Record<string, string> {
  const entries = Object.entries(fieldsOf(value)).filter(([, text]) => typeof text === "string");
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The list `packages` of pnpm-workspace.yaml, which is plain in practice. */
function pnpmWorkspaces(text: string | undefined): string[] {
  const [, list = ""] = /^packages:\s*\n((?:\s*(?:-.*|#.*)?\n?)*)/m.exec(text ?? "") ?? [];
  return [...list.matchAll(/^[ \t]*-[ \t]*["']?([\w@./*-]+)["']?[ \t]*$/gm)].map(([, glob = ""]) => glob);
}

/** Long-term versions first the newest. */
const known = ["24", "22", "20", "18", "16", "14"];
const names: Readonly<Record<string, string>> = { krypton: "24", jod: "22", iron: "20", hydrogen: "18", gallium: "16" };

/** The version of Node that the folder asks for, else the newest that is known here. */
export function nodeVersion(tree: SourceTree, { node, dependencies, packageManager }: PackageJson): string {
  for (const file of [".nvmrc", ".node-version"]) {
    const text = tree.read(file)?.trim() ?? "";
    const exact = versionIn(text, /^v?(\d+(?:\.\d+){0,2})/);
    const name = /^lts\/(\w+)/.exec(text)?.[1] ?? "";
    if (exact !== undefined) return exact;
    if (names[name.toLowerCase()] !== undefined) return names[name.toLowerCase()] ?? "";
  }
  const exact = versionIn(node, /^v?(\d+\.\d+\.\d+)$/);
  const fits = newestIn(node, known);
  // One between two long-term versions.
  const major = versionIn(node, /^[\^~v=]?\s*(\d+)(?:\.(?:x|\*|\d+)){0,2}$/);
  const hinted = hintedVersion(tree, "NODE_VERSION", "NIXPACKS_NODE_VERSION")?.split(".")[0];
  if (exact !== undefined || hinted !== undefined) return exact ?? hinted ?? "";
  // A range without an end says nothing of the versions after it.
  const age = ageOf(tree, { dependencies, packageManager });
  const isOpen = node === undefined || fits === known[0];
  if (isOpen && age !== undefined && (node === undefined || newestIn(node, [age]) !== undefined)) return age;
  return fits ?? major ?? known[0] ?? "";
}

/** Bundlers that fail on a newer Node, up to a major version: they hash with what newer TLS libraries refuse. */
const oldTools: readonly [name: string, majorMax: number, node: string][] = [
  ["@angular/core", 11, "14"],
  ["@angular/core", 13, "16"],
  ["react-scripts", 4, "16"],
  ["@vue/cli-service", 4, "16"],
  ["next", 11, "16"],
  ["nuxt", 2, "16"],
  ["gatsby", 3, "16"],
  ["node-sass", 5, "14"],
  ["node-sass", 7, "16"],
  ["webpack", 4, "16"],
];

/** The newest Node that packages of that age run on, where they are older than the newest; the oldest sign counts. */
function ageOf(
  tree: SourceTree,
  { dependencies, packageManager = "" }: Pick<PackageJson, "dependencies" | "packageManager">,
): string | undefined {
  const types = Number(/^[~^=v\s]*(\d+)/.exec(dependencies["@types/node"] ?? "")?.[1] ?? 99);
  const lock = Number(
    /"lockfileVersion":\s{0,4}(\d)/.exec(tree.read("package-lock.json")?.slice(0, 2000) ?? "")?.[1] ?? 9,
  );
  const [pnpmMajor = 99, pnpmMinor = 0] = (/^pnpm@(\d+)\.(\d+)/.exec(packageManager)?.slice(1) ?? []).map(Number);
  const signs = [
    oldToolNode(dependencies),
    types < 19 ? (known.find((version) => Number(version) <= Math.max(types + (types % 2), 14)) ?? "") : undefined,
    lock === 1 ? "16" : undefined,
    // Its older versions fail on the fetch of a newer Node.
    pnpmMajor < 8 || (pnpmMajor === 8 && pnpmMinor < 4) ? "18" : undefined,
  ].flatMap((version) => (version === undefined ? [] : [Number(version)]));
  return signs.length === 0 ? undefined : String(Math.min(...signs));
}

function oldToolNode(dependencies: Record<string, string>): string | undefined {
  const old = oldTools.filter(([name, majorMax]) => {
    const major = /^[~^=v\s]*(\d+)/.exec(dependencies[name] ?? "")?.[1];
    return major !== undefined && Number(major) <= majorMax;
  });
  return old.map(([, , version]) => version).toSorted()[0];
}

/** The scripts of these names, and those that they run. */
export function reached(scripts: Record<string, string>, names: string[]): string[] {
  const seen = new Set(names);
  for (const name of seen)
    for (const [, other = ""] of (scripts[name] ?? "").matchAll(/\b(?:npm|pnpm|yarn|bun)(?: run)? ([\w:-]+)/g))
      if (scripts[other] !== undefined) seen.add(other);
  return [...seen].flatMap((name) => scripts[name] ?? []);
}

/** How the tool of Prisma is called; one that the packages do not name is fetched in the version of their client. */
export function prismaWords(dependencies: Readonly<Record<string, string>>, language: string): string[] {
  const client = /\d{1,3}/.exec(dependencies["@prisma/client"] ?? "")?.[0];
  const isNamed = dependencies.prisma !== undefined;
  const tool = isNamed || client === undefined ? "prisma" : `prisma@${client}`;
  return language === "bun" ? ["bunx", tool] : ["npx", ...(isNamed ? [] : ["--yes"]), tool];
}
