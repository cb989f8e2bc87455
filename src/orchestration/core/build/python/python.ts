import { hintedStart, readHints } from "../hints/hints.ts";
import { pagesBase, servedByNginx, servePages } from "../pages.ts";
import { command, lines, namesStart, type Plan, type Runtime, type SourceTree, talksNote } from "../runtime.ts";
import type { PythonStart } from "./django.ts";
import { pythonStart, rootFiles } from "./frameworks.ts";
import { foreignLine, installLines, isPython2, packageFile, pythonPackages, pythonVersion } from "./packages.ts";

const port = 8000;

function markOf(tree: SourceTree): string | undefined {
  return (
    packageFile(tree) ??
    (tree.has("manage.py") ? "manage.py" : undefined) ??
    (tree.has("mkdocs.yml") ? "mkdocs.yml" : undefined)
  );
}

export const python: Runtime = {
  name: "python",
  mark(tree) {
    const file = markOf(tree);
    const start = file === undefined ? undefined : pythonStart(tree, pythonPackages(tree));
    return start?.framework === undefined ? file : `${file}, ${start.framework}`;
  },
  plan(tree, { version, entrypoint }) {
    const packages = pythonPackages(tree);
    const foreign = foreignLine(tree);
    if (foreign !== undefined)
      return { problem: `${foreign}, which cannot be installed: write NAME==VERSION in its place` };
    const base = `python:${version ?? pythonVersion(tree)}-slim`;
    if (entrypoint === undefined && tree.has("mkdocs.yml") && !packages.has("django") && rootFiles(tree).length === 0)
      return mkdocsPlan(tree, base, packages);
    const start: PythonStart | undefined =
      entrypoint === undefined ? pythonStart(tree, packages) : { words: ["python", entrypoint] };
    if (packageFile(tree) === undefined && start?.framework !== undefined) return { problem: unnamedPackages };
    return programPlan(tree, { base, packages, start: start ?? { words: hintedStart(tree) ?? [] } });
  },
};

const unnamedPackages =
  "no file names the packages of the Python program (requirements.txt, pyproject.toml): write them with pip freeze >requirements.txt";

const noStart =
  "no file that starts the Python program was found (main.py, app.py, server.py, manage.py, or one that makes a FastAPI or Flask app): set build.lang.entrypoint, or write a Procfile";

/** The same where a web framework, or a file that starts something, shows a program. */
export const pythonProgram: Runtime = {
  ...python,
  mark: (tree) =>
    markOf(tree) !== undefined && pythonStart(tree, pythonPackages(tree)) !== undefined ? python.mark(tree) : undefined,
};

interface Program {
  base: string;
  packages: ReadonlySet<string>;
  start: PythonStart;
}

function programPlan(tree: SourceTree, { base, packages, start }: Program): Plan {
  const { words, needs = [], notes = [], env = "", before } = start;
  const served = readHints(tree).processes.flatMap(({ command: line }) => serversIn(line));
  const missing = [...new Set([...needs, ...served])].filter((name) => !packages.has(name));
  const added = missing.map(
    (name) => `${name} is installed beside what the folder asks for, to serve the app; add it there`,
  );
  const looked = ["config.py", ...tree.list("").filter((name) => name.endsWith(".py"))];
  const isOld = isPython2(tree, looked.slice(0, 20));
  const isBot = start.framework === undefined && onlyTalks(packages);
  return {
    ...(isBot ? {} : { port }),
    readsPort: start.framework === undefined,
    isTold: start.framework !== undefined || ["gunicorn", "uvicorn"].includes(words[0] ?? ""),
    noStart: words.length === 0 ? noStart : undefined,
    notes: [
      ...(isOld ? ["the sources are Python 2, which no supported image runs: move them to Python 3"] : []),
      ...notes,
      ...added,
      ...(isBot ? [talksNote] : []),
    ],
    dockerfile: lines(
      `ARG BASE=${base}`,
      "FROM ${BASE}",
      "WORKDIR /app",
      `ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PORT=${port}${env}`,
      ...installLines(tree, packages, missing),
      "COPY . .",
      before,
      "RUN useradd --no-create-home app",
      "USER app",
      !isBot && `EXPOSE ${port}`,
      words.length > 0 && command(...words),
    ),
  };
}

/** Packages of chat bots, which call a service and listen nowhere, and of servers. */
const bots = [
  "discord-py",
  "discord",
  "py-cord",
  "nextcord",
  "disnake",
  "python-telegram-bot",
  "aiogram",
  "pyrogram",
  "telethon",
  "pytelegrambotapi",
];
const servers = [
  "flask",
  "fastapi",
  "aiohttp",
  "uvicorn",
  "gunicorn",
  "starlette",
  "tornado",
  "sanic",
  "bottle",
  "quart",
  "django",
];

function onlyTalks(packages: ReadonlySet<string>): boolean {
  return bots.some((name) => packages.has(name)) && !servers.some((name) => packages.has(name));
}

/** Servers that a command starts, which are packages. */
function serversIn(line: string): string[] {
  const names = ["gunicorn", "uvicorn", "hypercorn", "daphne"];
  return line
    .slice(0, 2000)
    .split(/[^\w-]+/)
    .filter((word) => names.includes(word));
}

function mkdocsPlan(tree: SourceTree, base: string, packages: ReadonlySet<string>): Plan {
  const more = packages.has("mkdocs") || packages.has("mkdocs-material") ? [] : ["mkdocs-material"];
  const install =
    packageFile(tree) === undefined
      ? [`RUN pip install --no-cache-dir ${more.join(" ")}`]
      : installLines(tree, packages, more);
  return {
    ...servedByNginx,
    notes: [`mkdocs makes pages in site, which nginx serves; ${namesStart}`],
    dockerfile: `${lines(`ARG BASE=${base}`, pagesBase, "FROM ${BASE} AS build", "WORKDIR /app", ...install, "COPY . .", "RUN mkdocs build --site-dir site")}${servePages("/app/site", "pages")}`,
  };
}
