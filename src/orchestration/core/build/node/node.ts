import { namedFiles } from "../../../../base/pure/left-out.ts";
import { hideManifests, pagesBase, servedByNginx, servePages } from "../pages.ts";
import {
  aptLine,
  command,
  type LanguageChoice,
  lines,
  type Plan,
  type Runtime,
  type SourceTree,
  talksNote,
} from "../runtime.ts";
import type { NodeApp, NodePlan } from "./backends.ts";
import { frameworkOf, hasServer, onlyTalks, pagesBelow } from "./frameworks.ts";
import { installScripts, nodeVersion, type PackageJson, readPackage } from "./package-json.ts";
import { buildScript, enteredFolders, functionsNote, hasFunctions, partInstalls, startInBuild } from "./parts.ts";
import { partNotes, partScripts, servedLines, servedParts } from "./served.ts";
import { browserLines, clientOfPrisma, nodeLibraries, type Packager, packagerOf } from "./packager.ts";
import { chosenPlan, type Program, scriptNotes, scriptPort, scriptText } from "./program.ts";
import { envFiles, startScript, workspaceApps } from "./start.ts";

const port = 3000;

/** Whether a package.json is of a program or of pages, and not only of tools that work on another language. */
function isApp(found: PackageJson): boolean {
  const framework = frameworkOf(found);
  if (framework?.name === "expo" && found.dependencies["react-native-web"] === undefined) return false;
  return framework !== undefined || startScript(found) !== undefined || hasServer(found);
}

/** Whether it is of a program that listens: beside another language's program, pages alone are its assets. */
function isProgram(tree: SourceTree): boolean {
  const found = readPackage(tree);
  const framework = frameworkOf(found)?.plan({ tree, folder: "", package: found });
  return startScript(found) !== undefined || hasServer(found) || framework?.type === "program";
}

function markOf(tree: SourceTree, isBun: boolean): string | undefined {
  if (!tree.has("package.json")) return undefined;
  const found = readPackage(tree);
  if ((packagerOf(tree, found).name === "bun") !== isBun) return undefined;
  const framework = frameworkOf(found);
  return framework === undefined ? "package.json" : `package.json, ${framework.name}`;
}

function runtime(name: "node" | "bun"): Runtime {
  return { name, mark: (tree) => markOf(tree, name === "bun"), plan: (tree, choice) => plan(tree, choice, name) };
}

export const node = runtime("node");
export const bun = runtime("bun");

const programs = (one: Runtime): Runtime => ({
  ...one,
  mark: (tree) => (isProgram(tree) ? one.mark(tree) : undefined),
});

/** The same where package.json shows a program. */
export const nodeProgram = programs(node);
export const bunProgram = programs(bun);

interface Work {
  app: NodeApp;
  root: PackageJson;
  packager: Packager;
  base: string;
  user: string;
  notes: string[];
}

function plan(tree: SourceTree, choice: LanguageChoice, name: "node" | "bun"): Plan {
  const root = readPackage(tree);
  const place = placeOf(tree, root, choice);
  if ("problem" in place) return place;
  const { folder, notes } = place;
  const app = { tree, folder, package: readPackage(tree, folder) };
  const found = packagerOf(tree, root);
  const packager =
    name === "bun" && found.name !== "bun" ? packagerOf(tree, { ...root, packageManager: "bun@1" }) : found;
  const version =
    choice.version ?? (name === "bun" ? "1" : nodeVersion(tree, app.package.node === undefined ? root : app.package));
  const isAged =
    name === "node" &&
    choice.version === undefined &&
    Number.parseInt(version, 10) < 20 &&
    (app.package.node ?? root.node) === undefined &&
    !tree.has(".nvmrc") &&
    !tree.has(".node-version");
  if (isAged)
    notes.push(
      `Node ${version} is used, as the packages are of its time; to use another, set engines.node in package.json`,
    );
  const base = name === "bun" ? `oven/bun:${version}` : `node:${version}-slim`;
  const built = buildScript(tree, root);
  const endless = built === undefined ? undefined : startInBuild(root, built);
  if (endless !== undefined)
    return {
      problem: `"${built}" of package.json also starts the program (${endless}), so it never ends: take that out`,
    };
  const work = { app, root, packager, base, user: name === "bun" ? "bun" : "node", notes };
  const chosen = chosenPlan(app, choice);
  if (chosen.type === "problem") return { problem: chosen.problem };
  if (chosen.note !== undefined) notes.push(chosen.note);
  return chosen.type === "pages" ? pagesPlan(work, chosen) : programPlan(work, chosen);
}

/** Where in the repository the app is. */
function placeOf(
  tree: SourceTree,
  root: PackageJson,
  { path, entrypoint }: LanguageChoice,
): { folder: string; notes: string[] } | { problem: string } {
  const named = path?.replace(/^\.\//, "").replace(/\/$/, "");
  if (named !== undefined && tree.has(`${named}/package.json`)) return { folder: `${named}/`, notes: [] };
  if (root.workspaces.length === 0 || isApp(root) || entrypoint !== undefined) return { folder: "", notes: [] };
  const apps = workspaceApps(tree, root.workspaces, isApp);
  const [only] = apps;
  if (only === undefined) return { folder: "", notes: [] };
  const advice = `build.path: ${only}`;
  if (apps.length > 1)
    return {
      problem: `package.json is of a workspace with several apps (${apps.join(", ")}): name one, as in ${advice} (berth init --path ${only})`,
    };
  return { folder: `${only}/`, notes: [`the app is the workspace ${only}; to build another, set build.path`] };
}

/** Everything up to the build. */
function buildLines(
  { app, root, packager, notes }: Work,
  build: string[] | undefined,
  isPages: boolean,
): (string | undefined)[] {
  const { folder, package: found, tree } = app;
  const copiesAll = folder !== "" || root.workspaces.length > 0 || root.installsFromSource;
  const inFolder = folder === "" ? "" : `cd ${folder.slice(0, -1)} && `;
  const makes = buildCommand({ tree, root, found, packager, inFolder }, build);
  const named = namedFiles(tree.read(".berthignore") ?? "");
  for (const file of [".npmrc", ...(makes === undefined ? [] : [`${folder}.env.production`])])
    if (tree.has(file) && !named.has(file)) notes.push(notSent(file));
  const files = [...packager.files, ...(tree.has(".npmrc") && named.has(".npmrc") ? [".npmrc"] : [])];
  const all = { ...root.dependencies, ...found.dependencies };
  const client = /prisma generate/.test(JSON.stringify([ranBefore(root), ranBefore(found)]))
    ? undefined
    : clientOfPrisma(app, packager, all);
  if (client?.note !== undefined) notes.push(client.note);
  const parts = folder === "" && !isPages ? servedParts(tree, root) : [];
  const more = folder === "" && root.workspaces.length === 0 ? partScripts(root) : [];
  notes.push(...partNotes(parts, more));
  const usesPrisma =
    found.dependencies.prisma !== undefined ||
    found.dependencies["@prisma/client"] !== undefined ||
    (folder !== "" && sharesPrisma(tree));
  return [
    "WORKDIR /app",
    all.husky === undefined ? undefined : "ENV HUSKY=0",
    aptLine(...(usesPrisma ? ["ca-certificates", "openssl"] : []), ...nodeLibraries(all)),
    ...browserLines(all),
    packager.prepare === undefined ? undefined : `RUN ${packager.prepare}`,
    packager.env === undefined ? undefined : `ENV ${packager.env}`,
    copiesAll ? "COPY . ." : `COPY ${["package.json", ...files].join(" ")} ./`,
    `RUN ${packager.install}`,
    copiesAll ? undefined : "COPY . .",
    ...partInstalls(tree, folder === "" ? partsOf(app, root) : [], ranBefore(root)),
    client === undefined ? undefined : `RUN ${inFolder}${client.command}`,
    ...servedLines(tree, parts),
    makes === undefined ? undefined : `RUN ${makes}`,
    ...more.map((name) => `RUN ${packager.run} ${name}`),
  ];
}

/** A package that the apps of a workspace share may hold the database. */
function sharesPrisma(tree: SourceTree): boolean {
  return tree.list("packages").some((name) => tree.has(`packages/${name}prisma/schema.prisma`));
}

/** Folders that the build and the start of the root need. */
function partsOf({ tree }: NodeApp, root: PackageJson): string[] {
  const names = [buildScript(tree, root), startScript(root), ...installScripts];
  return enteredFolders(
    tree,
    root,
    names.filter((name) => name !== undefined),
  );
}

/** What the scripts of the root install themselves, before or while it builds. */
function ranBefore({ scripts }: PackageJson): string {
  return ["preinstall", "install", "postinstall", "prepare", "build", "heroku-postbuild"]
    .flatMap((name) => scripts[name] ?? [])
    .join(" && ");
}

interface Building {
  tree: SourceTree;
  root: PackageJson;
  found: PackageJson;
  packager: Packager;
  inFolder: string;
}

/** The script of a workspace builds all that its apps need. */
function buildCommand(
  { tree, root, found, packager, inFolder }: Building,
  usual: string[] | undefined,
): string | undefined {
  const [whole, own] = [buildScript(tree, root), buildScript(tree, found)];
  if (whole !== undefined) return `${packager.run} ${whole}`;
  if (own !== undefined) return `${inFolder}${packager.run} ${own}`;
  return usual === undefined ? undefined : `${inFolder}${packager.exec} ${usual.join(" ")}`;
}

function notSent(file: string): string {
  return `${file} is not sent, as it may hold secrets; if it holds none and the build needs it, write the line "!${file}" into .berthignore`;
}

/** Whether a script that runs before the start only builds. */
function builds(script: string | undefined): boolean {
  return (
    script !== undefined &&
    /^(?:npm run build|yarn build|pnpm (?:run )?build|(?:npx )?tsc\b)[\w ./-]{0,80}$/.test(script.trim())
  );
}

function wordsOf({ start }: Program, { app, packager, user }: Work): string[] {
  if ("script" in start) {
    // What runs before it would write into the image, which its user may not.
    const text = app.package.scripts[start.script]?.trim() ?? "";
    const isBuilt = builds(app.package.scripts[`pre${start.script}`]) && /^node [\w./-]{1,120}$/.test(text);
    return isBuilt ? text.split(" ") : [...packager.run.split(" "), start.script];
  }
  if ("exec" in start) return [...packager.exec.split(" "), ...start.exec];
  const [program, ...rest] = start;
  return user === "bun" && program === "node" ? ["bun", ...rest] : start;
}

function programPlan(work: Work, found: Program): Plan {
  const { app, base, user, notes } = work;
  const words = wordsOf(found, work);
  const isBot = onlyTalks(app.package) && found.isFramework !== true;
  if (isBot) notes.push(talksNote);
  const script = "script" in found.start ? scriptText(app.package, found.start.script) : "";
  const fixed = scriptPort(script);
  notes.push(...scriptNotes(work, script, fixed));
  const empty = envFiles(script).filter((file) => !app.tree.has(app.folder + file));
  return {
    ...(isBot ? {} : { port: fixed ?? port }),
    readsPort: fixed === undefined,
    isTold:
      fixed !== undefined ||
      /\$\{?PORT\b|\bfastify start\b/.test(script) ||
      (found.isFramework === true && found.asksPort === true),
    folder: app.folder,
    notes,
    noStart: found.noStart,
    dockerfile: lines(
      `ARG BASE=${base}`,
      "FROM ${BASE}",
      ...buildLines(work, found.build, false),
      app.folder !== "" && `WORKDIR /app/${app.folder.slice(0, -1)}`,
      empty.length > 0 && `RUN touch ${empty.join(" ")}`,
      `ENV NODE_ENV=production PORT=${fixed ?? port}${found.isFramework === true ? " HOST=0.0.0.0" : ""}`,
      `USER ${user}`,
      !isBot && `EXPOSE ${fixed ?? port}`,
      words.length > 0 && command(...words),
    ),
  };
}

function pagesPlan(work: Work, { folder, style, build }: Extract<NodePlan, { type: "pages" }>): Plan {
  const { app, base, notes } = work;
  const { start } = app.package.scripts;
  if (hasFunctions(app.tree)) notes.push(functionsNote);
  const isPlain = frameworkOf(app.package) === undefined;
  const place = pagesBelow(app);
  if (place !== undefined)
    notes.push(
      `the pages are served below /${place.below}/, as ${place.from} says; to serve them from the root, take that out`,
    );
  if (isPlain)
    notes.push(
      `the pages of ${folder === "" ? "the folder" : folder} are served by nginx; if this is a program, add a start script`,
    );
  else
    notes.push(
      `the build makes pages in ${app.folder}${folder}, which nginx serves${start === undefined ? "" : `; "start" of package.json is not used`}`,
    );
  return {
    ...servedByNginx,
    notes,
    dockerfile: `${lines(`ARG BASE=${base}`, pagesBase, "FROM ${BASE} AS build", ...buildLines(work, build, true), folder === "" && `RUN rm -rf ${app.folder}node_modules`, folder === "" && hideManifests(app.folder))}${servePages(`/app/${app.folder}${folder}`.replace(/\/$/, ""), style, place?.below)}`,
  };
}
