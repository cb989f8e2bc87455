import { portIn, servesDevelopers } from "../hints/commands.ts";
import { hintedStart, readHints } from "../hints/hints.ts";
import { firstOf, jsonOf, type LanguageChoice, namesStart, type SourceTree } from "../runtime.ts";
import { isWorker, type NodeApp, type NodePlan, worker } from "./backends.ts";
import { frameworkOf, hasServer } from "./frameworks.ts";
import type { PackageJson } from "./package-json.ts";
import { buildScript, missingStart } from "./parts.ts";
import { envFiles, isForDevelopers, mainFile, startScript } from "./start.ts";

const textMax = 2000;

/** What a script of package.json runs in the end, through other scripts of it. */
export function scriptText({ scripts }: Pick<PackageJson, "scripts">, name: string): string {
  let text = (scripts[name] ?? "").slice(0, textMax);
  for (let steps = 0; steps < 4; steps++) {
    const next = /^(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]{1,80})(?: --)?$/.exec(
      (text.split("&&").at(-1) ?? "").trim(),
    )?.[1];
    if (next === undefined || scripts[next] === undefined) break;
    text = scripts[next].slice(0, textMax);
  }
  return text;
}

/** The port that a script names itself, unless it takes it from PORT. */
export function scriptPort(text: string): number | undefined {
  return /\$\{?PORT\b|%PORT%/.test(text) ? undefined : portIn(` ${text}`);
}

/** Programs that start what a framework built, and that read PORT. */
const asking =
  /\bfastify start\b|\b(?:next|nuxt|nuxi) (?:start|preview)\b|\b(?:remix|react-router)-serve\b|\.output\/server|\bnode (?:\.\/)?build(?:\/index\.js)?(?:\s|$)|server\/entry\.mjs|\$\{?PORT\b/;

function asksForPort(text: string): boolean {
  return asking.test(text);
}

/** Packages by their programs, where the names differ. */
const programs: Readonly<Record<string, string>> = {
  ...{ tsc: "typescript", ng: "@angular/cli", nest: "@nestjs/cli", "remix-serve": "@remix-run/serve", nuxi: "nuxt" },
  ...{
    "react-router-serve": "@react-router/serve",
    strapi: "@strapi/strapi",
    dotenv: "dotenv-cli",
    rw: "@redwoodjs/core",
  },
  ...{
    "dotenv-flow": "dotenv-flow-cli",
    "pm2-runtime": "pm2",
    sls: "serverless",
    "babel-node": "@babel/node",
    keystone: "@keystone-6/core",
  },
  ...{
    "cross-env-shell": "cross-env",
    probot: "probot",
    "functions-framework": "@google-cloud/functions-framework",
    wait: "wait-on",
  },
};
/** What every image of Node has, and words of a shell. */
const there =
  /^(?:node|npm|npx|yarn|pnpm|pnpx|bun|bunx|deno|sh|bash|cd|echo|export|set|test|mkdir|cp|mv|rm|cat|sleep|exec|env|true|if|\[|\.{0,2}\/.*|.*\/.*|\$.*)$/;

/** The program that a script starts and that no package brings. */
function missingProgram(text: string, { dependencies }: PackageJson): string | undefined {
  const names = Object.keys(dependencies);
  for (const part of text.split(/&&|;|\|\|/)) {
    const word =
      part
        .trim()
        .split(/\s+/)
        .find((one) => !/^[A-Za-z_]\w{0,80}=/.test(one)) ?? "";
    if (word === "" || there.test(word) || !/^[\w.-]{1,80}$/.test(word)) continue;
    const known = programs[word];
    const isThere = names.some(
      (name) => name === word || name === known || name.split("/").at(-1) === word || name.includes(word),
    );
    if (!isThere) return word;
  }
  return undefined;
}

/** Why what a build by tsc makes is not what the script starts; undefined where that cannot be seen. */
function outsideBuild(
  tree: SourceTree,
  folder: string,
  { start, build }: { start: string; build: string },
): string | undefined {
  const named = /\bnode (?:--?[\w=:./-]{1,60} ){0,4}(?:\.\/)?((?:dist|build|lib|out)\/[\w./-]{1,120})(?:\s|$)/.exec(
    start,
  )?.[1];
  const isPlain =
    /^(?:rimraf [\w./-]{1,40} && |rm -rf [\w./-]{1,40} && )?(?:npx )?tsc(?: (?:-p|--project|--build|-b) [\w./-]{1,60})?(?: && .{0,200})?$/.test(
      build.trim(),
    );
  if (named === undefined || !isPlain || /swc|babel|webpack|esbuild|rollup|tsup|ncc|vite|cp /.test(build))
    return undefined;
  const project = /(?:-p|--project|-b|--build) (?:\.\/)?([\w./-]{1,60})/.exec(build)?.[1] ?? "tsconfig.json";
  const config = tree.read(`${folder}${project}`) ?? "";
  const out = /^[ \t]*"outDir"[ \t]*:[ \t]*"(?:\.\/)?([\w./-]{1,60}?)\/?"/m.exec(config)?.[1];
  if (out === undefined) return undefined;
  if (!named.startsWith(`${out}/`)) return `the script starts ${named}, and tsc builds into ${out} (${project})`;
  const rest = named.slice(out.length + 1).replace(/\.[cm]?js$/, "");
  const root = /^[ \t]*"rootDir"[ \t]*:[ \t]*"(?:\.\/)?([\w./-]{0,60}?)\/?"/m.exec(config)?.[1];
  const places = root === undefined ? ["", "src/"] : root === "." || root === "" ? [""] : [`${root}/`];
  const ends = [".ts", ".tsx", ".mts", ".cts", ".js", "/index.ts"];
  const isMade = places.some((place) => ends.some((end) => tree.has(folder + place + rest + end)));
  return isMade ? undefined : `the script starts ${named}, and no source that tsc builds is at its place (${project})`;
}

/** What of package.json is built, and how it starts. */
type Chosen =
  | Extract<NodePlan, { type: "pages" | "problem" }>
  | {
      type: "program";
      start: string[] | { exec: string[] } | { script: string };
      build?: string[] | undefined;
      note?: string | undefined;
      isFramework?: boolean;
      /** It reads PORT, whatever the sources say. */
      asksPort?: boolean;
      noStart?: string;
    };

export type Program = Extract<Chosen, { type: "program" }>;

export function chosenPlan(app: NodeApp, { entrypoint }: LanguageChoice): Chosen {
  const { tree, folder, package: found } = app;
  if (entrypoint !== undefined) return { type: "program", start: runFile(entrypoint, found) };
  const framework = frameworkOf(found);
  const made = framework?.plan(app);
  const script = startScript(found);
  const file = mainFile(tree, folder, found);
  const isBundled = ["vite", "webpack", "parcel", undefined].includes(framework?.name);
  if (script === undefined && isBundled && isWorker(app, file)) return { type: "problem", problem: worker };
  const serves = hasServer(found) && (script !== undefined || file !== undefined);
  // What only serves pages to developers says nothing of visitors.
  const isProgram = readHints(tree).processes.some(
    ({ type, command: line }) => type === "web" && !servesDevelopers(line, tree),
  );
  const web = isProgram ? hintedStart(tree) : undefined;
  if (made?.type === "problem" || (made?.type === "pages" && !serves && web === undefined)) return made;
  if (made?.type === "program")
    return {
      ...made,
      ...(script === undefined || made.isOnlyStart === true ? {} : { start: { script } }),
      isFramework: true,
      asksPort:
        !readsOwn.has(framework?.name ?? "") && (script === undefined || asksForPort(scriptText(found, script))),
    };
  const missing = script === undefined ? undefined : missingStart(tree, folder, found.scripts[script] ?? "");
  const canBuild = buildScript(tree, found) !== undefined || missing === undefined;
  if (script !== undefined && canBuild) return { type: "program", start: { script } };
  if (script !== undefined && found.dependencies.typescript !== undefined && tree.has(`${folder}tsconfig.json`)) {
    const note = `"${script}" of package.json starts ${missing}, which no script builds, so tsc builds it; to build otherwise, add a script "build"`;
    return { type: "program", start: { script }, build: ["tsc"], note };
  }
  if (script !== undefined && file === undefined) {
    const problem = `"${script}" of package.json starts ${missing}, which does not exist, and no script builds it: correct the script, or set build.lang.entrypoint`;
    return { type: "problem", problem };
  }
  if (script !== undefined && file !== undefined) {
    const note = `"${script}" of package.json starts ${missing}, which does not exist, so ${file} is started; ${namesStart}`;
    return { type: "program", start: runFile(file, found), note };
  }
  if (file !== undefined) return fileStart(app, file);
  if (web !== undefined) return { type: "program", start: web };
  return pagesThere(tree, folder) ?? { type: "program", start: [], noStart };
}

/** A file that no script starts. */
function fileStart({ tree, folder, package: found }: NodeApp, file: string): Chosen {
  const asked = found.scripts.start;
  const note =
    asked !== undefined && isForDevelopers(asked)
      ? `"start" of package.json is for developers, so ${file} is started; ${namesStart}`
      : undefined;
  const isLibrary =
    asked === undefined && !hasServer(found) && jsonOf(tree, `${folder}package.json`).exports !== undefined;
  const library = `package.json is of a library (exports), and ${file} may start nothing; ${namesStart}`;
  return { type: "program", start: runFile(file, found), note: note ?? (isLibrary ? library : undefined) };
}

/** The packages are tools for pages that are there. */
function pagesThere(tree: SourceTree, folder: string): Chosen | undefined {
  const places = ["index.html", "public/index.html", "dist/index.html", "docs/index.html"];
  const page = firstOf(
    tree,
    places.map((path) => folder + path),
  );
  if (page === undefined) return undefined;
  return { type: "pages", folder: page.slice(folder.length).replace(/\/?index\.html$/, ""), style: "pages" };
}

/** Frameworks whose program is the app's own, and says itself where it listens. */
const readsOwn = new Set(["nest", "angular"]);

const noStart =
  "package.json has no start script, and none of server.js, index.js, app.js, main.js or src/index.js is there: add a start script, or set build.lang.entrypoint";

function runFile(file: string, { dependencies }: PackageJson): string[] | { exec: string[] } {
  const loader = ["tsx", "ts-node"].find((name) => dependencies[name] !== undefined);
  return file.endsWith(".ts") && loader !== undefined ? { exec: [loader, file] } : ["node", file];
}

/** Commands that ask a database. */
const changesDatabase =
  /\bprisma (?:migrate|db push)|\bblitz (?:db|prisma) migrate|\bsequelize(?:-cli)? db:|\bknex migrate|\bmigration:run|\bdrizzle-kit (?:migrate|push)|\bdb:(?:migrate|push)\b/;

/** What of a start script cannot work as it is, or was decided by it. */
export function scriptNotes(
  { app, root }: { app: NodeApp; root: PackageJson },
  script: string,
  fixed: number | undefined,
): string[] {
  const { tree, folder, package: found } = app;
  const all = { ...found, dependencies: { ...root.dependencies, ...found.dependencies } };
  const missing = missingProgram(script, all);
  const build = buildScript(tree, found);
  const outside =
    build === undefined ? undefined : outsideBuild(tree, folder, { start: script, build: scriptText(found, build) });
  const making = build === undefined ? undefined : missingProgram(scriptText(found, build), all);
  const files = envFiles(script).filter((file) => !tree.has(folder + file));
  return [
    ...(fixed === undefined ? [] : [`the start script names the port ${fixed}; to take it from PORT, take that out`]),
    ...(build !== undefined && changesDatabase.test(scriptText(found, build) + (found.scripts[build] ?? ""))
      ? [
          `"${build}" of package.json changes the database, which no build reaches: take that out of it, and write it as release`,
        ]
      : []),
    ...(missing === undefined
      ? []
      : [`the start script runs ${missing}, which no package of package.json brings: add it, or ${namesStart}`]),
    ...(making === undefined
      ? []
      : [`"${build}" of package.json runs ${making}, which no package of package.json brings: add it there`]),
    ...(outside === undefined ? [] : [`${outside}: correct one of them, or ${namesStart}`]),
    ...(files.length === 0
      ? []
      : [
          `the start script reads ${files.join(", ")}, which is not sent, so the image has an empty one; set its variables with berth config set`,
        ]),
  ];
}
