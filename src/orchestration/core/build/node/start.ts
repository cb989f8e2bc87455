import { type PackageJson, readPackage } from "./package-json.ts";
import { plainName, type SourceTree } from "../runtime.ts";

/** What begins a server for developers: it watches files, is slow, and is not for visitors. */
const developers: readonly RegExp[] = [
  /\bng serve\b/,
  /\breact-scripts start\b/,
  /\bvue-cli-service serve\b/,
  /\b(?:next|nuxt|astro|remix|react-router|wrangler|netlify|vercel|nest|strapi) (?:dev|develop)\b/,
  /\bnest start\b(?!.{0,200}node)/,
  /\bgatsby develop\b/,
  /(?:^|[\s&;])vite(?: (?:dev|serve|--.*)?)?\s*$/,
  /\bvite (?:dev|serve)\b/,
  /\bwebpack(?:-dev-server| serve)\b/,
  /\bparcel (?!build|watch)/,
  /\bdocusaurus start\b/,
  /\bember (?:s|serve)\b/,
  /\beleventy .{0,200}--serve\b/,
  /\bhexo server\b/,
  /\bvitepress dev\b/,
  /\bstart-storybook\b/,
  /\s--(?:watch|hot|live-?reload)(?=\s|$)/,
  /\bnx (?:serve|dev|run [\w:-]{1,60}:serve)\b/,
  /\bexpo start\b/,
  /\breact-native start\b/,
  /\bionic serve\b/,
  /\b(?:craco|rescripts|react-app-rewired) start\b/,
  /\b(?:live-server|browser-sync|lite-server)\b/,
  // These leave the program in the background, where its container ends.
  /\b(?:pm2|forever) (?:re)?start\b(?!.{0,200}--no-daemon)/,
];
/** What starts a program again when a file changes, in front of the program itself. */
const watchers =
  /\b(?:nodemon|ts-node-dev|node-dev|tsx watch|node --watch|bun --(?:watch|hot)|concurrently|turbo run dev|turbo dev)\b/;

/** Characters of a script that are looked at: the patterns take long for a line that no person wrote. */
const scriptMax = 4000;

export function isForDevelopers(whole: string): boolean {
  const script = whole.slice(0, scriptMax);
  return watchers.test(script) || developers.some((one) => one.test(script));
}

/** The script that starts the program for visitors: its name; undefined where there is none. */
export function startScript({ scripts }: Pick<PackageJson, "scripts">): string | undefined {
  return ["start:prod", "start:production", "start", "serve", "server"].find(
    (name) => scripts[name] !== undefined && !isForDevelopers(scripts[name]),
  );
}

const usual = ["server", "index", "app", "main", "src/server", "src/index", "src/app", "src/main", "bin/www"];

/** The file that `main` names, or a usual one. Where a build makes files, `main` need not be there yet. */
export function mainFile(tree: SourceTree, folder: string, { main, scripts }: PackageJson): string | undefined {
  const named = plainName(main?.replace(/^\.\//, ""));
  const candidates = named === undefined ? [] : [named, `${named}.js`, `${named}/index.js`];
  const found = candidates.find((path) => /\.[cm]?[jt]s$/.test(path) && tree.has(folder + path));
  if (named !== undefined && scripts.build !== undefined && /^(?:dist|build|lib|out)\//.test(named)) return named;
  const endings = ["js", "mjs", "cjs", "ts"];
  const files = [...usual.flatMap((name) => endings.map((ending) => `${name}.${ending}`)), "bin/www"];
  const there = files.filter((path) => tree.has(folder + path));
  const first = found ?? there[0] ?? watchedFile(tree, folder, scripts);
  if (first === undefined || startsServer(tree, folder, first, there)) return first;
  // It only exports the app, which another file takes to listen.
  return there.find((path) => path !== first && listens.test(tree.read(folder + path) ?? "")) ?? first;
}

/** The file that a script for developers starts again whenever it changes. */
function watchedFile(tree: SourceTree, folder: string, scripts: PackageJson["scripts"]): string | undefined {
  const lines = ["dev", "server", "develop", "watch", "start:dev", "dev:server"].map((name) => scripts[name] ?? "");
  const files = lines.flatMap((line) => {
    const file = /(?:^|[\s"'])(?:nodemon|node|node-dev) (?:--?[\w-]{1,30} ){0,4}(?:\.\/)?([\w./-]{1,100})/.exec(
      line,
    )?.[1];
    return file === undefined ? [] : [file, `${file}.js`, `${file}/index.js`];
  });
  return files.find((file) => /\.[cm]?js$/.test(file) && plainName(file) !== undefined && tree.has(folder + file));
}

const listens = /\.listen\(|\bcreateServer\(|\bserve\(|\blisten\(|\.start\(/;

/** Whether a file listens, or takes in one of those that may. */
function startsServer(tree: SourceTree, folder: string, file: string, others: readonly string[]): boolean {
  const text = tree.read(folder + file) ?? "";
  const names = others.filter((one) => one !== file).map((one) => one.replace(/^(?:src|bin)\/|\.[cm]?[jt]s$/g, ""));
  return (
    listens.test(text) ||
    names.some((name) => new RegExp(`["'][./]{1,8}(?:src/|bin/)?${name}(?:\\.[cm]?[jt]s)?["']`).test(text))
  );
}

/** Folders of a repository of several packages that hold an app: with a start script, or a framework. */
export function workspaceApps(
  tree: SourceTree,
  globs: readonly string[],
  isApp: (app: PackageJson) => boolean,
): string[] {
  const folders = globs.flatMap((glob) => {
    const clean = glob.replace(/^\.\//, "").replace(/\/$/, "");
    if (!clean.includes("*")) return [clean];
    const parent = clean.slice(0, clean.indexOf("*")).replace(/\/$/, "");
    return tree
      .list(parent)
      .filter((name) => name.endsWith("/"))
      .map((name) => (parent === "" ? name : `${parent}/${name}`).slice(0, -1));
  });
  return folders.filter(
    (folder) =>
      plainName(folder) !== undefined && tree.has(`${folder}/package.json`) && isApp(readPackage(tree, `${folder}/`)),
  );
}

/** Files with variables that `node --env-file` asks for; it ends where one is not there. */
export function envFiles(text: string): string[] {
  return [...text.matchAll(/--env-file[= ](?:\.\/)?([\w./-]{1,100})/g)].flatMap(([, file = ""]) =>
    file.includes("..") ? [] : [file],
  );
}
