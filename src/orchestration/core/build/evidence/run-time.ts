import { readPackage } from "../node/package-json.ts";
import type { SourceTree } from "../runtime.ts";
import { type App, needsMark } from "./needs.ts";

const drops =
  /ddl-auto\s{0,3}[:=]\s{0,3}["']?create\b(?!-only)|hbm2ddl\.auto["']?\s{0,3}[,=:]\s{0,3}["']?create\b(?!-only)|database\.generation\s{0,3}[:=]\s{0,3}(?:drop-and-create|create-drop)\b|\.sync\(\s{0,3}\{\s{0,3}force\s{0,3}:\s{0,3}true|\bdropSchema["']?\s{0,3}:\s{0,3}true|\bdrop_all\(|\bEnsureDeleted(?:Async)?\(|\bDropTable(?:IfExists)?\(|\bDROP TABLE IF EXISTS\b/;
const fetches =
  /\bfrom_pretrained\(|\bSentenceTransformer\(|\bwhisper\.load_model\(|\bnltk\.download\(|\bspacy\.cli\.download\(|\btorch\.hub\.load\(|\bhf_hub_download\(|\bsnapshot_download\(/;

/** What happens once the program runs, and that neither its build nor its start shows. */
export function runTimeNotes(tree: SourceTree, app: App): string[] {
  const { files } = app.sources;
  const main = files.filter(
    ({ path }) => !/(?:^|\/)(?:seeds?|seeders?|reset|migrat\w{0,8}|alembic|scripts?|cli)(?:[/.]|$)/i.test(path),
  );
  const dropping = main.find(({ text }) => drops.test(text));
  const fetching = files.find(({ text }) => fetches.test(text));
  return [
    ...(dropping === undefined
      ? []
      : [
          `${needsMark}a look at ${dropping.path}: it drops tables ("${drops.exec(dropping.text)?.[0].trim()}"), where that runs with each start or end, each new version begins without data`,
        ]),
    ...(fetching === undefined || app.language !== "python"
      ? []
      : [
          `${needsMark}a place for the models that ${fetching.path} fetches while it runs: write volumes: ["models:/data"] and volume_owner: "1000:1000", and HF_HOME, NLTK_DATA or XDG_CACHE_HOME: /data in env`,
        ]),
    ...unnamedPackages(tree, app),
  ];
}

const namesMax = 6;

/** Packages that the sources take in and that nothing installs. */
function unnamedPackages(tree: SourceTree, app: App): string[] {
  const found = app.language === "node" ? ofNode(tree, app) : app.language === "python" ? ofPython(tree, app) : [];
  const names = [...new Map(found.map((one) => [one.name, one])).values()].slice(0, namesMax);
  const manifest = app.language === "node" ? "package.json" : "the file of packages";
  return names.length === 0
    ? []
    : [
        `${needsMark}${names.map(({ name, path }) => `${name} (${path})`).join(", ")} among its packages: the sources import ${names.length === 1 ? "it, and" : "them, and"} ${manifest} does not name ${names.length === 1 ? "it" : "them"}`,
      ];
}

interface Import {
  name: string;
  path: string;
}

const imported =
  /(?:\brequire\(|\bfrom|^[ \t]{0,20}import)[ \t]{0,3}["']((?:@[a-z\d][\w.-]{0,60}\/)?[a-z\d][\w.-]{0,80})(?:\/[^"'\n]{0,120})?["']/gm;
const settings = [
  "tsconfig.json",
  "tsconfig.base.json",
  "jsconfig.json",
  ".babelrc",
  "babel.config.js",
  "package.json",
];
const locks = ["package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "npm-shrinkwrap.json"];

/** Modules of Node itself; those that begin with `node:` are not looked for. */
const builtIn =
  /^(?:assert|async_hooks|buffer|child_process|cluster|console|constants|crypto|dgram|diagnostics_channel|dns|domain|events|fs|http|http2|https|inspector|module|net|os|path|perf_hooks|process|punycode|querystring|readline|repl|stream|string_decoder|sys|timers|tls|trace_events|tty|url|util|v8|vm|wasi|worker_threads|zlib|bun)(?:\/|$)/;

function ofNode(tree: SourceTree, { sources, folder }: App): Import[] {
  const named = { ...readPackage(tree).dependencies, ...readPackage(tree, folder).dependencies };
  const isWorkspace = readPackage(tree).workspaces.length > 0;
  const all = [...new Set([folder, ""])];
  const textOf = (names: readonly string[]) =>
    all.flatMap((at) => names.map((name) => tree.read(at + name) ?? "")).join("\n");
  const [own, lock] = [textOf(settings), textOf(locks)];
  // A workspace, and a lock file that is not text, install more than is seen here.
  if (isWorkspace || tree.has("bun.lockb")) return [];
  const isInstalled = (name: string) =>
    named[name] !== undefined ||
    named[`@types/${name}`] !== undefined ||
    lock.includes(`node_modules/${name}"`) ||
    lock.includes(`${name}@`) ||
    lock.includes(`"${name}": {`);
  const isAlias = (name: string) => {
    const first = name.split("/")[0] ?? "";
    const start = first.replaceAll(/[.$-]/g, ".");
    return (
      new RegExp(String.raw`["']\^?${start}(?:["'/*]|$)`, "m").test(own.replaceAll(/"name"[^,\n]{0,100}/g, "")) ||
      (/"baseUrl"/.test(own) &&
        all.some((at) => [first, `src/${first}`].some((path) => tree.has(at + path) || tree.has(`${at + path}.ts`))))
    );
  };
  return sources.files.flatMap(({ path, text }) =>
    [...text.replaceAll(/^import type .*$/gm, "").matchAll(imported)].flatMap(([, name = ""]) =>
      builtIn.test(name) || isInstalled(name) || isAlias(name) || /[.][jt]sx?$/.test(name) ? [] : [{ name, path }],
    ),
  );
}

/** Modules whose packages nothing else brings, by their names there, or by those that bring them. */
const modules: Readonly<Record<string, RegExp>> = {
  django_heroku: /django[-_]heroku/,
  dj_database_url: /dj[-_]database[-_]url|django[-_]heroku|environs/,
  decouple: /decouple/,
  environ: /django[-_]environ/,
  dotenv: /dotenv|pydantic[-_]settings|uvicorn\[|fastapi\[|environs/,
  whitenoise: /whitenoise|django[-_]heroku/,
  corsheaders: /cors[-_]headers/,
  rest_framework: /djangorestframework|drf/,
  rest_framework_simplejwt: /simplejwt/,
  django_filters: /django[-_]filter/,
  crispy_forms: /crispy/,
  storages: /django[-_]storages/,
  flask_cors: /flask[-_]cors/,
  flask_login: /flask[-_](?:login|security|user)/,
  flask_migrate: /flask[-_]migrate/,
  flask_sqlalchemy: /flask[-_](?:sqlalchemy|migrate|appbuilder|security)/,
  flask_wtf: /flask[-_](?:wtf|appbuilder|security)/,
  flask_bcrypt: /flask[-_]bcrypt/,
  flask_mail: /flask[-_]mail/,
  flask_jwt_extended: /jwt[-_]extended/,
  flask_socketio: /socketio/,
  flask_restful: /flask[-_]rest/,
  jose: /python[-_]jose/,
  passlib: /passlib|flask[-_]security|fastapi[-_]users/,
  pymysql: /pymysql|aiomysql/,
  MySQLdb: /mysqlclient/,
  pymongo: /mongo|motor|beanie/,
  motor: /motor|beanie|odmantic/,
  asyncpg: /asyncpg/,
  celery: /celery/,
  bs4: /beautifulsoup4|bs4/,
  stripe: /stripe/,
  openai: /openai|langchain/,
  sqlmodel: /sqlmodel/,
};
const pythonFiles = [
  ...["requirements.txt", "pyproject.toml", "Pipfile", "setup.py", "setup.cfg", "requirements/base.txt"],
  ...["requirements/production.txt", "requirements/prod.txt", "requirements/common.txt", "environment.yml"],
  ...["poetry.lock", "uv.lock", "Pipfile.lock"],
];

function ofPython(tree: SourceTree, { sources, folder }: App): Import[] {
  const all = pythonFiles.flatMap((file) => [...new Set([folder, ""])].map((at) => tree.read(at + file) ?? ""));
  const text = all.join("\n").toLowerCase();
  // Another file of packages is not read here.
  if (/^[ \t]*-[rc][ \t]/m.test(text) || text.trim() === "") return [];
  return sources.files.flatMap(({ path, text: source }) =>
    [...source.matchAll(/^(?:import|from) (\w{1,40})\b/gm)].flatMap(([, name = ""]) => {
      const brings = modules[name];
      const isOwn = [folder, ""].some((at) => tree.has(`${at}${name}.py`) || tree.has(`${at}${name}`));
      return brings === undefined || brings.test(text) || isOwn ? [] : [{ name, path }];
    }),
  );
}
