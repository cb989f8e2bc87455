import { isForDevelopers, startScript } from "../node/start.ts";
import { readPackage } from "../node/package-json.ts";
import type { SourceTree } from "../runtime.ts";

/** A command in words that are looked at, and the folder it runs in, with a slash at its end. */
interface Command {
  folder: string;
  /** Without what only stands in front: variables, `exec`, `bundle exec`. */
  words: string[];
}

/** Characters of a command that are looked at: a person wrote no longer one. */
const commandMax = 2000;
const wrappers = new Set(["exec", "env", "dumb-init", "--", "time", "nohup"]);
const pairs = new Set(["bundle exec", "poetry run", "pipenv run", "uv run", "rye run", "heroku local"]);

/** The last command of a line, as `cd api && node server.js` is the server in `api/`. */
export function lastCommand(line: string): Command {
  const parts = line.slice(0, commandMax).split(/&&|;|\|\|/);
  let folder = "";
  for (const part of parts.slice(0, -1)) {
    const to = /^\s*cd\s+(?:\.\/)?([\w.@/-]+)\s*$/.exec(part)?.[1];
    if (to !== undefined) folder = `${folder}${to.replace(/\/$/, "")}/`;
  }
  let words = (parts.at(-1) ?? "").trim().split(/\s+/);
  for (;;) {
    const [first = "", second = ""] = words;
    if (pairs.has(`${first} ${second}`)) words = words.slice(2);
    else if (wrappers.has(first) || /^[A-Za-z_]\w*=/.test(first)) words = words.slice(1);
    else return { folder, words };
  }
}

/** Servers that are for developers, in any language; those of Node are known by their scripts. */
const developers: readonly RegExp[] = [
  /\bmanage\.py runserver/,
  /\bflask (?:[\w.:=-]+ ){0,4}run\b/,
  /\bfastapi dev\b/,
  /\s--reload\b/,
  /\bhttp\.server\b/,
  /\bartisan serve\b/,
  /\bphp (?:-\w+ ){0,4}-S\b/,
  /\bsymfony (?:server:start|serve)\b/,
  /\b(?:jekyll serve|hugo server|mkdocs serve)\b/,
  /\bmvnw? .{0,200}spring-boot:run/,
  /\bgradlew? .{0,200}bootRun\b/,
  /\bdotnet (?:run|watch)\b/,
  /\bgo run\b/,
  /\bcargo run\b/,
];

/** Whether a command starts a server for developers, also by a script of package.json. */
export function servesDevelopers(line: string, tree: SourceTree): boolean {
  const short = line.slice(0, commandMax);
  if (isForDevelopers(short) || developers.some((one) => one.test(short))) return true;
  const { folder, words } = lastCommand(short);
  const { scripts } = readPackage(tree, folder);
  const script = scripts[scriptOf(words) ?? ""];
  return script !== undefined && isForDevelopers(script) && startScript({ scripts }) === undefined;
}

/** The script of package.json that a command runs. */
function scriptOf([program = "", ...rest]: string[]): string | undefined {
  if (!["npm", "pnpm", "yarn", "bun"].includes(program)) return undefined;
  const words = rest.filter((word) => !word.startsWith("-"));
  const [first, second] = words;
  if (first === "run" || first === "run-script") return second;
  return first === "start" || program === "yarn" || program === "pnpm" ? first : undefined;
}

const ports: readonly RegExp[] = [
  /\s--(?:server\.)?port[= ](\d{2,5})\b/,
  /\s-p[= ]?(\d{2,5})\b/,
  /\s-l[= ](?:tcp:\/\/[\w.]{1,60}:)?(\d{2,5})\b/,
  /(?:0\.0\.0\.0|\[::\]|\*):(\d{2,5})\b/,
  /\s(?:-b|--bind)[= ]:(\d{2,5})\b/,
  /^(?:.{0,200}\s)?PORT=(\d{2,5})\s/,
];

/** The port that a command names itself, in place of the one in PORT. */
export function portIn(line: string): number | undefined {
  const short = line.slice(0, commandMax);
  const found = ports.map((one) => Number(one.exec(short)?.[1] ?? 0)).find((port) => port > 0 && port < 65_536);
  return found;
}

/** Folders that a build makes, where a file need not be there yet. */
const made = /(?:^|\/)(?:dist|build|lib|out|target|bin|_build|\.output|\.next)\//;

/** The file or module that a command starts and that is not there; undefined where it is, or where that cannot be seen. */
export function missingIn(line: string, tree: SourceTree): string | undefined {
  const { folder, words } = lastCommand(line);
  if (/[`$(|<>]/.test(folder) || (folder !== "" && !tree.has(folder.slice(0, -1))))
    return folder === "" ? undefined : folder;
  const [program = "", ...rest] = words;
  if (["gunicorn", "uvicorn", "hypercorn", "daphne"].includes(program)) return missingModule(rest, folder, tree);
  const script = scriptOf(words);
  if (script !== undefined && tree.has(`${folder}package.json`)) {
    const isThere = readPackage(tree, folder).scripts[script] !== undefined;
    const isFile = script === "start" && tree.has(`${folder}server.js`);
    const isProgram = rest[0] !== "run" && script !== "start";
    return isThere || isFile || isProgram ? undefined : `script "${script}" of ${folder}package.json`;
  }
  const file = rest.find((word) => !word.startsWith("-"))?.replace(/^\.\//, "");
  const isRun = /^(?:python[\d.]*|node|ruby|php|bash|sh|deno|bun)$/.test(program);
  if (!isRun || file === undefined || !/^[\w./@-]+\.(?:py|[cm]?[jt]s|rb|php|sh)$/.test(file)) return undefined;
  return made.test(file) || tree.has(folder + file) ? undefined : folder + file;
}

function hasModule(tree: SourceTree, place: string, module: string): boolean {
  const path = place + module.replaceAll(".", "/");
  return tree.has(`${path}.py`) || tree.has(`${path}/__init__.py`) || tree.has(path);
}

/** `shop.wsgi:application`, `app.main:app`, `shop.wsgi`. */
function missingModule(words: string[], folder: string, tree: SourceTree): string | undefined {
  const clean = words.map((word) => word.replaceAll(/^["']|["']$/g, ""));
  const target =
    clean.find((word) => /^[A-Za-z_][\w.]*:[A-Za-z_]\w*(?:\(.{0,50}\))?$/.test(word)) ??
    clean.find((word) => /^[A-Za-z_]\w*(?:\.\w+)*\.[aw]sgi$/.test(word));
  // A file is not a module: `gunicorn shop.py`.
  if (target === undefined) {
    const file = clean.find((word) => /^\w+\.py$/.test(word));
    return file === undefined ? undefined : `a module "${file}"`;
  }
  const flag = clean.findIndex((word) => /^--(?:chdir|app-dir|pythonpath)\b/.test(word));
  const named = flag < 0 ? "" : (clean[flag]?.split("=")[1] ?? clean[flag + 1] ?? "");
  const within = named === "" ? "" : `${named.replace(/^\.\//, "").replace(/\/$/, "")}/`;
  const module = (target.split(":")[0] ?? "").replaceAll(".", "/");
  const places = [folder + within, folder, `${folder}src/`];
  const isThere = places.some((place) => ["", ".py", "/__init__.py"].some((end) => tree.has(place + module + end)));
  if (!isThere) return target.split(":")[0] ?? "";
  // Django's module names its settings from the folder of manage.py, which another folder cannot import.
  const text = tree.read(`${folder + within + module}.py`) ?? "";
  const settings = /DJANGO_SETTINGS_MODULE["']\s*,\s*["']([\w.]+)["']/.exec(text)?.[1];
  const first = settings?.split(".")[0];
  const canImport = first === undefined || places.some((place) => hasModule(tree, place, settings ?? ""));
  const isBelow = tree.has(`${folder + within + (module.split("/")[0] ?? "")}/manage.py`);
  return canImport || !isBelow ? undefined : `${settings} in this folder`;
}

/** Where the program of a Dockerfile listens, and what of it is not sure. */
export function dockerPort(dockerfile: string): { port: number | undefined; notes: string[] } {
  const [first, ...others] = exposedPorts(dockerfile);
  const way = "else correct ports and probes";
  if (first !== undefined) {
    const note = `of the ports of EXPOSE, ${first} is the one of the web, and not ${others.join(", ")}; ${way}`;
    return { port: first, notes: others.length === 0 ? [] : [note] };
  }
  const port = unexposed(dockerfile);
  const note = `the program listens on ${port}, as the Dockerfile has no EXPOSE and starts it so; ${way}`;
  return { port, notes: port === undefined ? [] : [note] };
}

/** The ports that the last stage of a Dockerfile exposes, the first of which is taken: TCP, and variables with their defaults. */
function exposedPorts(dockerfile: string): number[] {
  const last = /^[ \t]*EXPOSE\b/im.exec(stageOf(dockerfile)) === null ? dockerfile : stageOf(dockerfile);
  const words = [...last.matchAll(/^[ \t]*EXPOSE[ \t]+(\S[^\n#]*)$/gim)].flatMap(([, text = ""]) =>
    text.trim().split(/\s+/),
  );
  const ports = words.map((word) => {
    const [, name, usual] = /^\$\{?(\w+)(?::-(\d+))?\}?(?:\/tcp)?$/i.exec(word) ?? [];
    const value = name === undefined ? word : (usual ?? valueIn(dockerfile, name) ?? "");
    return Number(/^(\d{1,5})(?:\/tcp)?$/i.exec(value)?.[1] ?? Number.NaN);
  });
  return [...new Set(ports.filter((port) => port >= 1 && port <= 65_535))];
}

/** The port of a Dockerfile without EXPOSE: of its command, of PORT, or of a server that always has the same. */
function unexposed(dockerfile: string): number | undefined {
  const stage = stageOf(dockerfile);
  const start = [...stage.matchAll(/^[ \t]*(?:CMD|ENTRYPOINT)[ \t]+([^\n]+)$/gim)]
    .map(([, text = ""]) => text)
    .join(" ");
  const told = portIn(` ${start.replaceAll(/["',[\]]+/g, " ")}`) ?? Number(valueIn(stage, "PORT") ?? 0);
  if (told > 0) return told;
  const base = /^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)?(?:[\w.-]+\/)*(nginx|httpd|caddy|tomcat|php)\b(\S*)/im.exec(stage);
  if (base === null || (base[1] === "php" && !base[2]?.includes("apache"))) return undefined;
  return base[1] === "tomcat" ? 8080 : 80;
}

/** The last stage, which becomes the image. */
function stageOf(dockerfile: string): string {
  return dockerfile.slice([...dockerfile.matchAll(/^[ \t]*FROM\b/gim)].at(-1)?.index ?? 0);
}

/** The value that ENV or ARG give a variable. */
function valueIn(dockerfile: string, name: string): string | undefined {
  const lines = [...dockerfile.matchAll(/^[ \t]*(?:ENV|ARG)[ \t]+(\S[^\n]*)$/gim)].map(([, text = ""]) => text);
  const found = lines.flatMap(
    (text) => new RegExp(String.raw`(?:^|\s)${name}[= ]["']?(\d{1,5})\b`).exec(text)?.[1] ?? [],
  );
  return found.at(-1);
}
