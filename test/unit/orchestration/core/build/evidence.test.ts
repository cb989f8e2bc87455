// biome-ignore-all lint/suspicious/noTemplateCurlyInString: sources hold such text
import { describe, expect, test } from "bun:test";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;
/** Said of most of these folders. */
const unnamed = "nothing in the folder names one";
function made(files: Files) {
  const result = generateDockerfile(treeOf(files), {});
  if (!result.ok) throw new Error(result.problem);
  const { port, notes, dockerfile } = result.build;
  return {
    port,
    notes: notes.filter((note) => !note.includes(unnamed) && !note.startsWith("no lock file")).join("\n"),
    dockerfile,
  };
}
const js = (text: string, packages = '"express":"4"', file = "app.js"): Files => ({
  "package.json": `{"scripts":{"start":"node ${file}"},"dependencies":{${packages}}}`,
  [file]: text,
});
const python = (text: string, packages = "aiohttp\n"): Files => ({ "requirements.txt": packages, "main.py": text });
const flask = "from flask import Flask\napp = Flask(__name__)\n";
const go = (text: string): Files => ({ "go.mod": "module x\n", "main.go": `package main\n${text}\n` });
const rust = (text: string): Files => ({ "Cargo.toml": '[package]\nname = "x"\n', "src/main.rs": text });
const maven = (text: string): Files => ({
  "pom.xml": "<artifactId>maven-shade-plugin</artifactId>",
  "src/main/java/App.java": text,
});
const web = (text: string): Files => ({ "A.csproj": "Microsoft.NET.Sdk.Web", "Program.cs": text });

describe("the port that sources write down is taken and said", () => {
  test.each<[string, Files, number]>([
    ["Node", js("app.listen(4000)"), 4000],
    ["Node by a name", js("const port = 4100;\napp.listen(port)"), 4100],
    [
      "Node in settings of its own",
      { ...js("app.listen(config.port)"), "config.js": "module.exports = { port: 4200 }" },
      4200,
    ],
    ["a variable of another case", js("app.listen(process.env.port || 4300)"), 4300],
    ["Hono", js("serve({ fetch: app.fetch, port: 4400 })", '"@hono/node-server":"1"'), 4400],
    ["Python", python("web.run_app(app, port=8001)"), 8001],
    ["a server of Python's own", python('HTTPServer(("", 9001), H).serve_forever()', ""), 9001],
    ["Go", go('srv := &http.Server{Addr: ":4500"}; srv.ListenAndServe()'), 4500],
    ["a flag of Go", go('addr := flag.String("addr", ":4600", "")\nhttp.ListenAndServe(*addr, nil)'), 4600],
    ["Rust", rust('TcpListener::bind("0.0.0.0:4700").await'), 4700],
    ["Rust by a name", rust("let a = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 4850)); Server::bind(&a)"), 4850],
    ["Ktor", maven("fun main() { embeddedServer(Netty, 4860, module = M).start() }"), 4860],
    ["Rust by numbers", rust("let addr = SocketAddr::from(([0, 0, 0, 0], 4800)); axum::serve(l, app)"), 4800],
    ["Java", maven("public static void main(String[] a) { HttpServer.create(new InetSocketAddress(7070), 0); }"), 7070],
    ["Javalin", maven("public static void main(String[] a) { Javalin.create().start(7071); }"), 7071],
    [".NET", web('app.Run("http://0.0.0.0:5005");'), 5005],
    ["Ruby", { Gemfile: 'gem "sinatra"', "app.rb": "require 'sinatra'\nset :port, 4567\nset :bind, '0.0.0.0'" }, 4567],
    [
      "Elixir",
      {
        "mix.exs": 'app: :x, {:plug_cowboy, "~> 2"}',
        "lib/a.ex": "{Plug.Cowboy, scheme: :http, plug: R, options: [port: 4001]}",
      },
      4001,
    ],
    [
      "a flag of the start script",
      { "package.json": '{"scripts":{"start":"next start -p 4900"},"dependencies":{"next":"15"}}' },
      4900,
    ],
  ])("%s", (_kind, files, port) => {
    const build = made(files);
    expect(build.port).toBe(port);
    expect(build.notes).toContain(String(port));
    expect(build.dockerfile).toContain(`EXPOSE ${port}`);
  });
});

test.each<[string, Files]>([
  ["Node", js("app.listen(process.env.PORT || 4000)")],
  ["a destructured variable", js("const { PORT = 4000 } = process.env; app.listen(PORT)")],
  ["Nest's config", js("app.listen(config.get('PORT'))")],
  ["Python", python('web.run_app(app, port=int(os.environ.get("PORT", 8001)))')],
  ["settings of pydantic", python("class S(BaseSettings):\n    port: int = 9000\n\nweb.run_app(app, port=S().port)")],
  ["Go", go('http.ListenAndServe(":"+os.Getenv("PORT"), nil)')],
  ["Gin without an address", go('import "github.com/gin-gonic/gin"\nr.Run()')],
  ["a field of clap", rust("struct C {\n #[clap(long, env)]\n pub port: u16,\n}\nserve(c.port)")],
  ["Rust", rust('let p = env::var("PORT"); TcpListener::bind(("0.0.0.0", p))')],
  ["a framework that reads it", { "package.json": '{"scripts":{"start":"next start"},"dependencies":{"next":"15"}}' }],
  [
    "a script that passes it on",
    { "package.json": '{"scripts":{"start":"next start -p $PORT"},"dependencies":{"next":"15"}}' },
  ],
])("%s takes its port from PORT, and nothing is assumed", (_kind, files) => {
  expect(made(files).notes).toBe("");
});

test("variables of other names for the port and the address are set", () => {
  const { dockerfile, notes } = made(js("app.listen(process.env.APP_PORT, process.env.APP_HOST || 'localhost')"));
  expect(dockerfile).toContain("PORT=3000 APP_PORT=3000 APP_HOST=0.0.0.0\n");
  expect(notes).toContain("takes its port from APP_PORT");
  expect(
    made(js("db(process.env.DB_PORT, process.env.REDIS_HOST || 'localhost'); app.listen(4000)")).dockerfile,
  ).not.toContain("DB_PORT=");
});

test("a program whose port no source shows, and one that does not listen, are said", () => {
  expect(made(js("require('./lib').startAll({ listen: true })")).notes).toContain(
    "do not show where the program listens",
  );
  const quiet = made(js("console.log(1)", ""));
  expect([quiet.port, quiet.notes]).toEqual([undefined, expect.stringContaining("nothing in the sources listens")]);
  expect(quiet.dockerfile).not.toContain("EXPOSE");
});

test.each<[string, Files]>([
  ["Node", js("app.listen(4000, 'localhost')")],
  ["Fastify's default", js("import f from 'fastify'; f().listen({ port: process.env.PORT })", '"fastify":"5"')],
  ["uvicorn's default", python("uvicorn.run(app, port=8001)", "uvicorn\n")],
  ["Rust", rust('TcpListener::bind("127.0.0.1:3000")')],
  ["Go", go('http.ListenAndServe("localhost:8080", nil)')],
])("%s that listens on localhost alone is said", (_kind, files) => {
  expect(made(files).notes).toContain("listens on localhost alone");
});

test("services, values and volumes that an app needs are said, and its user may write its database", () => {
  const text =
    "new Database('data/app.db'); stripe(process.env.STRIPE_KEY); log(process.env.LOG || 1); app.listen(process.env.PORT)";
  const { notes, dockerfile } = made(js(text, '"express":"4","pg":"8","ioredis":"5","mongoose":"8"'));
  expect(notes).toContain("needs PostgreSQL, MongoDB, Redis");
  expect(notes).toContain("kind: postgres and kind: redis");
  expect(notes).toContain("have no default; set them");
  expect(notes).toContain("read STRIPE_KEY and have");
  expect(notes).toContain('volumes: ["data:/app/data"] and volume_owner: "1000:1000"');
  expect(dockerfile).toContain("RUN mkdir -p /app/data && chown -R 1000:1000 /app/data\n");
  expect(made(js("app.listen(process.env.PORT)")).notes).toBe("");
});

test("hosts that Django refuses and files that it does not serve are said", () => {
  const settings =
    "INSTALLED_APPS = ['django.contrib.staticfiles']\nALLOWED_HOSTS = []\nDATABASES = {'ENGINE': 'django.db.backends.sqlite3'}\n";
  const files = (more: Files) => ({
    "manage.py": "",
    "shop/wsgi.py": "",
    "requirements.txt": "django\n",
    "shop/settings.py": settings,
    ...more,
  });
  const { notes, dockerfile } = made(files({}));
  expect(notes).toContain("ALLOWED_HOSTS of shop/settings.py names no domain");
  expect(notes).toContain("whitenoise");
  expect(notes).toContain("a database of SQLite (shop/settings.py)");
  expect(dockerfile).toContain("chown 1000:1000 /app\nUSER app");
  const open = made(
    files({ "shop/settings.py": settings.replace("[]", "['*']"), "requirements.txt": "django\nwhitenoise\n" }),
  );
  expect(open.notes).not.toContain("ALLOWED_HOSTS");
  expect(open.notes).not.toContain("whitenoise");
});

test("what a start script runs is checked", () => {
  const start = (script: string, more: object = {}, files: Files = {}) =>
    made({
      "package.json": JSON.stringify({
        scripts: { start: script, ...more },
        dependencies: { express: "4", typescript: "5" },
      }),
      "app.js": "app.listen(process.env.PORT)",
      ...files,
    });
  expect(start("cross-env A=1 node app.js").notes).toContain("runs cross-env, which no package");
  expect(start("node --env-file=.env app.js").dockerfile).toContain("RUN touch .env\n");
  expect(start("pm2 start app.js").dockerfile).toContain('CMD ["node","app.js"]');
  const config = { "tsconfig.json": '{\n  "outDir": "build",\n}', "src/app.ts": "" };
  expect(start("node dist/app.js", { build: "tsc" }, config).notes).toContain("tsc builds into build");
  expect(start("node build/app.js", { build: "tsc" }, config).notes).toBe("");
  expect(start("node build/main.js", { build: "tsc" }, config).notes).toContain(
    "no source that tsc builds is at its place",
  );
});

test("pnpm and newer Yarn are in the image, as the start has no network", () => {
  const base = js("app.listen(process.env.PORT)");
  const tool = (files: Files) => /^RUN (npm install -g .*)$/m.exec(made({ ...base, ...files }).dockerfile)?.[1];
  expect(tool({ "pnpm-lock.yaml": "lockfileVersion: '6.0'\n" })).toBe("npm install -g pnpm@8");
  expect(tool({ "pnpm-lock.yaml": "lockfileVersion: '9.0'\n" })).toBe("npm install -g pnpm@9");
  expect(
    tool({ "pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "pnpm-workspace.yaml": "onlyBuiltDependencies:\n  - a\n" }),
  ).toBe("npm install -g pnpm@10");
  expect(tool({ "yarn.lock": "__metadata:\n  version: 8\n", ".yarnrc.yml": "nodeLinker: node-modules\n" })).toBe(
    "npm install -g --force @yarnpkg/cli-dist@4",
  );
  expect(tool({ "yarn.lock": "", ".yarnrc.yml": "yarnPath: .yarn/releases/yarn-4.1.0.cjs\n" })).toBeUndefined();
  expect(tool({ "yarn.lock": "# yarn lockfile v1\n" })).toBeUndefined();
});

test.each<[string, string, Files]>([
  [
    "a file that the sources open",
    "config.yaml, as main.py",
    python('config = yaml.load(open("config.yaml"))\nweb.run_app(app, port=80)'),
  ],
  [
    "a module that is not sent",
    "config/keys, as app.js",
    js("const keys = require('./config/keys'); app.listen(process.env.PORT)"),
  ],
  [
    "a file of which a sample is there",
    "config/database.yml, as config/database.yml.sample",
    { Gemfile: 'gem "rails"', "config/application.rb": "", "config/database.yml.sample": "x", "app/a.rb": "x" },
  ],
  [
    "secrets of Elixir",
    "config/prod.secret.exs, as config/prod.exs",
    {
      "mix.exs": "app: :x, {:phoenix,",
      "config/prod.exs": 'port: {:system, "PORT"}\nimport_config "prod.secret.exs"\n',
    },
  ],
])("%s is named", (_kind, said, files) => {
  expect(made(files).notes).toContain(`needs ${said} shows, which is not in the folder`);
});

test("modules of TypeScript, and files that the program writes itself, are not taken for missing ones", () => {
  const files = {
    ...js(
      "import './lib/a.js'; import x from './b'; open('state.json'); writeFileSync('state.json', x); app.listen(process.env.PORT)",
    ),
    "lib/a.ts": "",
    "b/index.ts": "",
  };
  expect(made(files).notes).not.toContain("needs");
});

test.each<[string, string, Files]>([
  [
    "Prisma",
    '["npx", "prisma", "migrate", "deploy"]',
    {
      "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"prisma":"6"}}',
      "a.js": "",
      "prisma/schema.prisma": "",
      "prisma/migrations/1.sql": "",
    },
  ],
  [
    "a script",
    '["npm", "run", "migration:run"]',
    { "package.json": '{"scripts":{"start":"node a.js","migration:run":"x"}}', "a.js": "listen(process.env.PORT)" },
  ],
  [
    "Alembic",
    '["alembic", "upgrade", "head"]',
    { "requirements.txt": "fastapi\nuvicorn\n", "main.py": "app = FastAPI()", "alembic.ini": "" },
  ],
])("migrations of %s are named", (_kind, command, files) => {
  expect(made({ ...files, "a.js": "listen(process.env.PORT)" }).notes).toContain(
    `write release: { command: ${command} }`,
  );
});

test("a database of a package that apps share counts for each of them", () => {
  const { notes, dockerfile } = made({
    "package.json": '{"workspaces":["apps/*","packages/*"]}',
    "apps/web/package.json": '{"scripts":{"start":"next start"},"dependencies":{"next":"15"}}',
    "apps/phone/package.json": '{"scripts":{"start":"expo start"},"dependencies":{"expo":"48"}}',
    "packages/db/package.json": '{"dependencies":{"pg":"8"}}',
    "packages/db/prisma/schema.prisma": "x",
  });
  expect(notes).toContain("the app is the workspace apps/web");
  expect(notes).toContain("needs PostgreSQL");
  expect(dockerfile).toContain("openssl");
});

test.each<[string, string, Files]>([
  [
    "pins of older packages",
    "ARG BASE=python:3.11-slim",
    { "requirements.txt": "flask\nPillow==9.5.0\n", "app.py": flask },
  ],
  [
    "a Python that only the newest is",
    "ARG BASE=python:3.14-slim",
    { "pyproject.toml": '[project]\nrequires-python = ">=3.14"\ndependencies = ["flask"]\n', "app.py": flask },
  ],
  [
    "packages of Streamlit's platform",
    "ffmpeg",
    { "requirements.txt": "streamlit\n", "app.py": "import streamlit", "packages.txt": "ffmpeg\n" },
  ],
  ["packages of git", "recommends git ", { "requirements.txt": "flask\ngit+https://x/y\n", "app.py": flask }],
  [
    "a task of Deno",
    '["deno","task","serve"]',
    { "deno.json": '{"tasks":{"serve":"deno run -A a.tsx"}}', "a.tsx": "" },
  ],
  [
    "another output of Eleventy",
    "/app/dist ",
    {
      "package.json": '{"devDependencies":{"@11ty/eleventy":"3"}}',
      "eleventy.config.js": 'return { dir: { output: "dist" } }',
    },
  ],
  [
    "a PHP without an image",
    "no image, so 8.4 is taken",
    { "composer.json": '{"config":{"platform":{"php":"5.3.9"}}}', "index.php": "" },
  ],
  ["native packages of Node", "g++ make python3", js("x", '"express":"4","better-sqlite3":"11"')],
  ["a browser of Node", "PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium", js("x", '"express":"4","puppeteer":"23"')],
])("%s: %s", (_kind, said, files) => {
  const { notes, dockerfile } = made(files);
  expect(`${dockerfile}${notes}`).toContain(said);
});

test("older packages get the Node of their time, and it is said where nothing asks for one", () => {
  const age = (more: object, files: Files = {}) => {
    const { dockerfile, notes } = made({
      "package.json": JSON.stringify({ scripts: { start: "node app.js" }, ...more }),
      "app.js": "listen(process.env.PORT)",
      ...files,
    });
    return [/^ARG BASE=node:(\d+)/.exec(dockerfile)?.[1], notes.includes("packages are of its time")];
  };
  expect(age({ devDependencies: { "@types/node": "13.13.5" } })).toEqual(["14", true]);
  expect(age({ devDependencies: { "@types/node": "^20.1.0" } })).toEqual(["24", false]);
  expect(age({ packageManager: "pnpm@7.0.1" })).toEqual(["18", true]);
  expect(age({}, { "package-lock.json": '{"lockfileVersion": 1}' })).toEqual(["16", true]);
  expect(age({ engines: { node: ">=14.x" }, dependencies: { next: "10.0.9" } })).toEqual(["16", false]);
  expect(age({ engines: { node: ">=20" }, dependencies: { next: "10.0.9" } })).toEqual(["24", false]);
});

test("newer Yarn keeps its packages where the program's user reads them", () => {
  const berry = { ...js("listen(process.env.PORT)"), "yarn.lock": "__metadata:\n", ".yarnrc.yml": "" };
  expect(made(berry).dockerfile).toContain("ENV YARN_ENABLE_GLOBAL_CACHE=false");
});

test("values that a bundler writes into pages are told from those of the config", () => {
  const files = {
    "package.json": '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"7"}}',
    "src/a.ts": "fetch(import.meta.env.VITE_API_URL)",
  };
  expect(made(files).notes).toContain("needs values while it is built: the pages hold VITE_API_URL");
});

test.each<[string, string, Files]>([
  [
    "small names of django-environ",
    "read db_name and",
    { "manage.py": "", "requirements.txt": "django\n", "s/settings.py": 'env("db_name")' },
  ],
  [
    "a list of pydantic",
    "read ORIGINS and",
    python("class C(BaseSettings):\n    ORIGINS: list[str]\n\nweb.run_app(app, port=80)"),
  ],
  [
    "a variable of Prisma",
    "read DB_URL and",
    { ...js("listen(process.env.PORT)"), "prisma/schema.prisma": 'url = env("DB_URL")' },
  ],
  [
    "SQL Server",
    "needs SQL Server",
    { "A.csproj": "Microsoft.NET.Sdk.Web Microsoft.EntityFrameworkCore.SqlServer", "Program.cs": "app.Run();" },
  ],
  ["Python 2", "sources are Python 2", { "requirements.txt": "flask\n", "app.py": `${flask}print app\n` }],
  [
    "a manage.py of another framework",
    '["gunicorn"',
    { "manage.py": "from flask_script import Manager", "requirements.txt": "flask\n", "app.py": flask },
  ],
  [
    "pins of included files",
    "python:3.11-slim",
    { "requirements/prod.txt": "-r base.txt\n", "requirements/base.txt": "flask\nasyncpg==0.27.0\n", "app.py": flask },
  ],
  [
    "assets of Rails that need JavaScript",
    "libyaml-dev nodejs ",
    { Gemfile: 'gem "rails"\ngem "uglifier"\n', "config/application.rb": "", "app/a.rb": "x" },
  ],
  ["a gem of the folder", "COPY . .\nRUN bundle", { Gemfile: "gemspec\n", "config.ru": "run X" }],
  ["a theme of Jekyll", "/app/_site", { Gemfile: "gemspec\n", "x.gemspec": 'add "jekyll"', "_config.yml": "" }],
  [
    "folders that PHP writes",
    "chown -R www-data logs var",
    { "composer.json": "{}", "public/index.php": "x", "logs/a": "", "var/a": "" },
  ],
  [
    "a daemon beside its client",
    "./cmd/xd",
    { "go.mod": "module x\n", "cmd/x/main.go": "package main", "cmd/xd/main.go": "package main\nhttp.ListenAndServe" },
  ],
  [
    "a folder that Rust reads",
    "COPY configuration/ ./configuration/",
    { ...rust('dir.join("configuration"); serve()'), "configuration/base.yaml": "application:\n  port: 8000\n" },
  ],
  [
    "a port in settings of Rust",
    "listens on 8000, as configuration/base.yaml",
    { ...rust('dir.join("configuration"); serve()'), "configuration/base.yaml": "application:\n  port: 8000\n" },
  ],
  [
    "migrations of Ecto",
    '"eval", "Shop.Release.migrate"',
    {
      "mix.exs": "defmodule Shop.MixProject do\n app: :shop, {:phoenix,",
      "config/runtime.exs": 'get_env("PORT")',
      "priv/repo/migrations/1.exs": "",
    },
  ],
])("%s: %s", (_kind, said, files) => {
  const { notes, dockerfile } = made(files);
  expect(`${dockerfile}${notes}`).toContain(said);
});

test("a theme of Hugo is no app, also with a go.mod", () => {
  const result = generateDockerfile(treeOf({ "go.mod": "module x\n", "theme.toml": "", "layouts/index.html": "" }), {});
  expect(result).toMatchObject({ ok: false, problem: expect.stringContaining("a theme of Hugo") });
});

test.each<[string, string, Files, Files]>([
  ["Node", "Node 24 is used", js("listen(process.env.PORT)"), { ".nvmrc": "22\n" }],
  ["Python", "Python 3.12 is used", python("web.run_app(app, port=80)"), { ".python-version": "3.12\n" }],
  ["Ruby", "Ruby 3.4 is used", { Gemfile: 'gem "sinatra"', "app.rb": "x" }, { ".ruby-version": "3.4.1" }],
  ["PHP", "PHP 8.4 is used", { "index.php": "x" }, { "composer.json": '{"require":{"php":"^8.2"}}' }],
  ["Java", "Java 21 is used", maven("void main"), { ".java-version": "21" }],
])("a version of %s that nothing names is said", (_kind, said, files, named) => {
  const notes = (all: Files) => {
    const result = generateDockerfile(treeOf(all), {});
    return result.ok ? result.build.notes.join("\n") : "";
  };
  expect(notes(files)).toContain(`${said}, as ${unnamed}; to change that, `);
  expect(notes({ ...files, ...named })).not.toContain(unnamed);
});

test("a start that builds first is built before, as its user may not write", () => {
  const scripts = { "prestart:prod": "tsc", "start:prod": "node dist/main.js" };
  const { dockerfile } = made({
    "package.json": JSON.stringify({ scripts, dependencies: { "@nestjs/core": "7" } }),
    "src/main.ts": "app.listen(3000)",
  });
  expect(dockerfile).toContain("RUN npx tsc\n");
  expect(dockerfile).toContain('CMD ["node","dist/main.js"]');
});

test.each<[string, string, Files]>([
  ["an older node-sass", "node:14-slim", js("x", '"express":"4","node-sass":"^4.13.0"')],
  [
    "a web process of a Procfile",
    "EXPOSE 8000",
    { ...python("app = make()", "x\n"), Procfile: "web: gunicorn main:app\n" },
  ],
  [
    "a package that compiles",
    "gcc libmemcached-dev libpq-dev",
    { "requirements.txt": "flask\npsycopg[c]==3.2\npylibmc==1.6\n", "app.py": flask },
  ],
  [
    "hosts of a domain",
    "names .shop.example",
    { "manage.py": "", "requirements.txt": "django\n", "s/settings.py": "ALLOWED_HOSTS = ['.shop.example']" },
  ],
  [
    "a framework in shared settings",
    "sdk:10.0",
    {
      "A.csproj": "Microsoft.NET.Sdk.Web",
      "Program.cs": "app.Run();",
      "Directory.Build.props": "<TargetFramework>net10.0<",
    },
  ],
  [
    "pages inside of .NET",
    "nodejs npm",
    { "A.csproj": "Microsoft.NET.Sdk.Web <SpaRoot>ClientApp<", "Program.cs": "app.Run();" },
  ],
  [
    "assets of an older Phoenix",
    "RUN npm run deploy --prefix assets\nRUN mix phx.digest",
    {
      "mix.exs": "app: :x, {:phoenix,",
      "config/runtime.exs": 'get_env("PORT")',
      "assets/package.json": '{"scripts":{"deploy":"webpack"}}',
    },
  ],
  [
    "a Gemfile that reads files",
    "COPY . .\nRUN bundle",
    { Gemfile: 'gem "puma" if File.read("Procfile")', "config.ru": "run X" },
  ],
  [
    "values that Next reads while it builds",
    "in .env.production",
    {
      "package.json": '{"scripts":{"start":"next start"},"dependencies":{"next":"15"}}',
      "lib/a.ts": "process.env.KEY!",
    },
  ],
])("%s: %s", (_kind, said, files) => {
  const { notes, dockerfile } = made(files);
  expect(`${dockerfile}${notes}`).toContain(said);
});

test("a folder without a lock file is told that its packages change", () => {
  const notes = (files: Files) => {
    const result = generateDockerfile(treeOf(files), {});
    return result.ok ? result.build.notes.join("\n") : "";
  };
  const said = "no lock file stands beside package.json";
  expect(notes(js("listen(process.env.PORT)"))).toContain(said);
  expect(notes({ ...js("listen(process.env.PORT)"), "yarn.lock": "" })).not.toContain(said);
});

test("Rails without puma starts its own server, and uploads of multer get a volume", () => {
  const rails = { Gemfile: 'gem "rails"\n', "config/application.rb": "", "app/a.rb": "x" };
  expect(made(rails).dockerfile).toContain('CMD ["bundle","exec","rails","server","-b","0.0.0.0","-p","3000"]');
  expect(made({ ...rails, "Gemfile.lock": "    puma (6.4.0)\n" }).dockerfile).toContain('CMD ["bundle","exec","puma"');
  expect(made(js("multer({ dest: path.join(__dirname, 'files/in') }); listen(process.env.PORT)")).notes).toContain(
    "data:/app/files",
  );
});

test("a Go program two folders deep is found, and what it embeds has to be there", () => {
  const main = 'package main\n//go:embed dist\nvar f embed.FS\nhttp.ListenAndServe(":"+os.Getenv("PORT"), nil)\n';
  const files = { "go.mod": "module x\n", "server/s.go": "package server", "bin/x/main.go": main };
  expect(made(files).dockerfile).toContain("go build -trimpath -o /app ./bin/x\n");
  expect(made(files).notes).toContain("needs bin/x/dist, as bin/x/main.go shows");
  expect(made({ ...files, "bin/x/dist/a.html": "" }).notes).toBe("");
});

describe("what the folder says beside its sources, and nothing here does, is said", () => {
  const express = js("app.listen(process.env.PORT)");
  const readme = (...commands: string[]): Files => ({ "README.md": ["# X", "```sh", ...commands, "```"].join("\n") });
  const cli = "package main\nfunc main() { (&cli.App{Commands: []*cli.Command{api}}).Run(os.Args) }";
  test.each<[string, Files, string]>([
    [
      "a step of the README",
      { ...express, ...readme("$ npm install", "make db_reset", "npm start") },
      '"make db_reset"',
    ],
    [
      "a step between backticks",
      { ...express, "README.rst": "First `php bin/keys generate` it." },
      '"php bin/keys generate"',
    ],
    [
      "a start with a command",
      { ...go(cli.slice(13)), ...readme("go run . -env=dev runserver") },
      "-env=dev runserver",
    ],
    [
      "another file that starts",
      { ...python(flask, "flask\n"), ...readme("python run_all.py") },
      'with "python run_all.py"',
    ],
    ["a file with tables", { ...express, "schema.sql": "CREATE TABLE a (b int);" }, "schema.sql holds them"],
    [
      "migrations",
      { ...express, "db/migrations/1.js": "x", "db/migrations/2.js": "x" },
      "db/migrations/1.js and others",
    ],
    ["Compose", { ...express, "compose.yaml": "services:\n  a:\n    image: minio/minio:1\n" }, "needs minio,"],
    [
      "services of CI",
      { ...express, ".github/workflows/ci.yml": "services:\n  db:\n    image: mariadb:10\n" },
      "needs mariadb, if the program uses what .github/workflows/ci.yml runs",
    ],
  ])("%s", (_kind, files, note) => {
    expect(made(files).notes).toContain(note);
  });

  test.each<[string, Files]>([
    ["what the image does", { ...express, ...readme("npm install", "cp .env.example .env", "npm test", "npm start") }],
    [
      "steps for developers",
      { ...express, ...readme("npm run dev", "npm run db:generate:test", "docker compose up db") },
    ],
    [
      "tables that the program reads",
      { ...js("db.exec(read('schema.sql')); app.listen(process.env.PORT)"), "schema.sql": "create table a" },
    ],
    ["tools of Compose", { ...express, "compose.yaml": "services:\n  a:\n    image: adminer\n" }],
    ["the same start", { ...express, ...readme("node app.js") }],
    ["one start of several", { ...express, ...readme("node other.js", "node app.js") }],
  ])("not %s", (_kind, files) => {
    expect(made(files).notes).toBe("");
  });

  test("a service that the packages show is not said twice", () => {
    const files = {
      ...js("app.listen(process.env.PORT)", '"express":"4","pg":"8"'),
      "compose.yaml": "a:\n  image: postgres:16\n",
    };
    expect(made(files).notes.match(/needs/g)?.length).toBe(1);
  });

  test("the only port that the README names is taken where the sources show none", () => {
    const unseen = js("require('./lib').startAll({ listen: true })");
    const { port, notes } = made({ ...unseen, "README.md": "Open http://localhost:4321/ and http://localhost:4321/x" });
    expect([port, notes]).toEqual([4321, expect.stringContaining("as README.md says")]);
    expect(made({ ...unseen, "README.md": "http://localhost:1234 or http://localhost:4321" }).port).toBe(3000);
  });

  test("a version without fixes, and packages without versions, are said", () => {
    const old = { ...express, ".nvmrc": "12" };
    expect(made(old).notes).toContain("the image is node 12");
    const gemfile = { Gemfile: "ruby ENV['V'] || '2.0.0'\ngem 'sinatra'", "app.rb": "require 'sinatra'" };
    expect(made(gemfile).dockerfile).toContain("ARG BASE=ruby:2.0.0");
    const result = generateDockerfile(treeOf(python(flask, "flask\nredis==5\n")), {});
    expect(result.ok && result.build.notes.join()).toContain(
      "requirements.txt, which names no exact version of flask,",
    );
  });

  test("pages of PHP begin in one file, also without an .htaccess", () => {
    const files = { "composer.json": "{}", "public/index.php": "<?php" };
    expect(made(files).dockerfile).toContain("FallbackResource /index.php");
    expect(made({ ...files, "public/.htaccess": "" }).dockerfile).not.toContain("FallbackResource");
    expect(made({ "index.php": "<?php" }).dockerfile).not.toContain("FallbackResource");
  });
});
