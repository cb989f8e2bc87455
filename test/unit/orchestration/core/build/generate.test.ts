// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles hold such text
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { buildId } from "../../../../../src/orchestration/core/build/build-id.ts";
import { builtImage } from "../../../../../src/orchestration/core/build/built-image.ts";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { isForDevelopers } from "../../../../../src/orchestration/core/build/node/start.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;
const generate = (files: Files, choice = {}) => generateDockerfile(treeOf(files), choice);
function made(files: Files, choice = {}) {
  const result = generate(files, choice);
  if (!result.ok) throw new Error(result.problem);
  return result.build;
}
const startOf = (files: Files, choice = {}) => /^CMD (.*)$/m.exec(made(files, choice).dockerfile)?.[1];

/** A package.json with these dependencies and scripts. */
const packageOf = (dependencies: string[], scripts: Record<string, string> = {}, more: object = {}) =>
  JSON.stringify({ dependencies: Object.fromEntries(dependencies.map((name) => [name, "*"])), scripts, ...more });

const flask = "from flask import Flask\napp = Flask(__name__)\n";
const fastapi = "from fastapi import FastAPI\n\napp: FastAPI = FastAPI(title='x')\n";
const webProject = '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net9.0</TargetFramework></Project>';

const springBoot =
  "<artifactId>spring-boot-starter-parent</artifactId><plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin>";

/** Folders of one kind each: what builds it, what it starts with or which folder it serves, and where it listens. */
const kinds: [kind: string, files: Files, runtime: string, start: string, port?: number][] = [
  [
    "express",
    { "package.json": packageOf(["express"], { start: "node app.js" }), "app.js": "" },
    "node",
    '["npm","run","start"]',
  ],
  ["a main file alone", { "package.json": '{"main":"./lib.js"}', "lib.js": "" }, "node", '["node","lib.js"]'],
  [
    "a file that a build makes",
    { "package.json": packageOf(["koa"], { build: "tsc" }, { main: "dist/index.js" }) },
    "node",
    '["node","dist/index.js"]',
  ],
  [
    "nodemon as start",
    { "package.json": packageOf(["express"], { start: "nodemon server.js" }), "server.js": "" },
    "node",
    '["node","server.js"]',
  ],
  [
    "pnpm",
    { "package.json": packageOf(["fastify"], { start: "node ." }), "pnpm-lock.yaml": "" },
    "node",
    '["pnpm","run","start"]',
  ],
  [
    "next",
    { "package.json": packageOf(["next"], { dev: "next dev", build: "next build", start: "next start" }) },
    "node",
    '["npm","run","start"]',
  ],
  [
    "next without a start script",
    { "package.json": packageOf(["next"], { dev: "next dev", build: "next build" }) },
    "node",
    '["npx","next","start"]',
  ],
  [
    "next as pages",
    {
      "package.json": packageOf(["next"], { build: "next build" }),
      "next.config.mjs": "export default { output: 'export' };",
    },
    "node",
    "/app/out",
    80,
  ],
  [
    "nuxt",
    { "package.json": packageOf(["nuxt"], { build: "nuxt build", dev: "nuxt dev" }) },
    "node",
    '["node",".output/server/index.mjs"]',
  ],
  [
    "sveltekit",
    { "package.json": packageOf(["@sveltejs/kit", "@sveltejs/adapter-node", "vite"], { build: "vite build" }) },
    "node",
    '["node","build"]',
  ],
  [
    "sveltekit with two adapters",
    {
      "package.json": packageOf(["@sveltejs/kit", "@sveltejs/adapter-node", "@sveltejs/adapter-static"]),
      "svelte.config.js": "import adapter from '@sveltejs/adapter-static';",
    },
    "node",
    "/app/build",
    80,
  ],
  [
    "lerna with one app",
    {
      "package.json": '{"main":"index.js","scripts":{"build":"lerna run build"}}',
      "lerna.json": '{"packages":["packages/*"]}',
      "packages/api/package.json": packageOf(["express"], { start: "node ." }),
      "packages/lib/package.json": "{}",
    },
    "node",
    '["npm","run","start"]',
  ],
  [
    "sveltekit as pages",
    { "package.json": packageOf(["@sveltejs/kit", "@sveltejs/adapter-static", "vite"]) },
    "node",
    "/app/build",
    80,
  ],
  [
    "astro",
    { "package.json": packageOf(["astro"], { start: "astro dev", build: "astro build" }) },
    "node",
    "/app/dist",
    80,
  ],
  [
    "astro with a server",
    { "package.json": packageOf(["astro", "@astrojs/node"], { build: "astro build" }) },
    "node",
    '["node","dist/server/entry.mjs"]',
  ],
  [
    "nest",
    {
      "package.json": packageOf(["@nestjs/core"], {
        start: "nest start",
        "start:prod": "node dist/main",
        build: "nest build",
      }),
    },
    "node",
    '["npm","run","start:prod"]',
  ],
  [
    "remix",
    { "package.json": packageOf(["@remix-run/serve"], { start: "remix-serve ./build/server/index.js" }) },
    "node",
    '["npm","run","start"]',
  ],
  [
    "angular",
    {
      "package.json": packageOf(["@angular/core"], { start: "ng serve", build: "ng build" }),
      "angular.json": '{"projects":{"shop":{"architect":{"build":{"builder":"@angular/build:application"}}}}}',
    },
    "node",
    "/app/dist/shop/browser",
    80,
  ],
  [
    "angular of before",
    {
      "package.json": packageOf(["@angular/core"], { start: "ng serve" }),
      "angular.json":
        '{"projects":{"shop":{"architect":{"build":{"builder":"@angular-devkit/build-angular:browser","options":{"outputPath":"dist/x"}}}}}}',
    },
    "node",
    "/app/dist/x",
    80,
  ],
  [
    "create-react-app",
    { "package.json": packageOf(["react-scripts"], { start: "react-scripts start", build: "react-scripts build" }) },
    "node",
    "/app/build",
    80,
  ],
  [
    "vite",
    {
      "package.json": packageOf(["vite", "react"], {
        dev: "vite",
        build: "tsc && vite build",
        preview: "vite preview",
      }),
      "index.html": "",
    },
    "node",
    "/app/dist",
    80,
  ],
  [
    "vite in another folder",
    {
      "package.json": packageOf(["vite"], { build: "vite build" }),
      "vite.config.ts": "export default { build: { outDir: 'public_out' } }",
    },
    "node",
    "/app/public_out",
    80,
  ],
  [
    "vite beside a server",
    { "package.json": packageOf(["vite", "express"], { build: "vite build", start: "node server.js" }) },
    "node",
    '["npm","run","start"]',
  ],
  [
    "vue-cli",
    {
      "package.json": packageOf(["@vue/cli-service"], {
        serve: "vue-cli-service serve",
        build: "vue-cli-service build",
      }),
    },
    "node",
    "/app/dist",
    80,
  ],
  [
    "gatsby",
    { "package.json": packageOf(["gatsby"], { start: "gatsby develop", build: "gatsby build" }) },
    "node",
    "/app/public",
    80,
  ],
  [
    "docusaurus",
    { "package.json": packageOf(["@docusaurus/core"], { start: "docusaurus start", build: "docusaurus build" }) },
    "node",
    "/app/build",
    80,
  ],
  [
    "a workspace with one app",
    {
      "package.json": '{"workspaces":["apps/*"],"scripts":{"build":"turbo build"}}',
      "apps/web/package.json": packageOf(["express"], { start: "node ." }),
      "packages/ui/package.json": "{}",
    },
    "node",
    '["npm","run","start"]',
  ],
  ["bun", { "package.json": packageOf(["hono"]), "bun.lock": "", "index.ts": "" }, "bun", '["bun","index.ts"]', 3000],
  [
    "deno",
    { "deno.json": "{}", "main.ts": "" },
    "deno",
    '["deno","run","--allow-net","--allow-env","--allow-read","main.ts"]',
    8000,
  ],
  [
    "deno with a task",
    { "deno.json": '{"tasks":{"start":"deno run -A main.ts"}}' },
    "deno",
    '["deno","task","start"]',
    8000,
  ],
  [
    "flask",
    { "requirements.txt": "Flask==3.0\ngunicorn\n", "app.py": flask },
    "python",
    '["gunicorn","--bind","0.0.0.0:8000","app:app"]',
    8000,
  ],
  [
    "a flask factory in a package",
    { "requirements.txt": "flask\n", "shop/__init__.py": "def create_app(config=None):\n  pass\n" },
    "python",
    '["gunicorn","--bind","0.0.0.0:8000","shop:create_app()"]',
    8000,
  ],
  [
    "fastapi below app",
    { "requirements.txt": "fastapi[standard]>=0.110\n", "app/main.py": fastapi, "app/__init__.py": "" },
    "python",
    '["uvicorn","app.main:app","--host","0.0.0.0","--port","8000"]',
    8000,
  ],
  [
    "fastapi with uv",
    {
      "pyproject.toml": '[project]\nrequires-python = ">=3.11"\ndependencies = [\n  "fastapi>=0.1",\n]\n',
      "uv.lock": "",
      "main.py": fastapi,
    },
    "python",
    '["uvicorn","main:app","--host","0.0.0.0","--port","8000"]',
    8000,
  ],
  [
    "django",
    {
      "requirements.txt": "Django>=5\n",
      "manage.py": 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")',
      "shop/wsgi.py": "",
      "shop/settings.py": "",
    },
    "python",
    '["gunicorn","--bind","0.0.0.0:8000","shop.wsgi:application"]',
    8000,
  ],
  [
    "django with channels",
    {
      "requirements.txt": "django\nchannels\n",
      "manage.py": "setdefault('DJANGO_SETTINGS_MODULE', 'config.settings.local')",
      "config/wsgi.py": "",
      "config/asgi.py": "",
    },
    "python",
    '["uvicorn","config.asgi:application","--host","0.0.0.0","--port","8000"]',
    8000,
  ],
  [
    "streamlit",
    { "requirements.txt": "streamlit\n", "streamlit_app.py": "" },
    "python",
    '["streamlit","run","streamlit_app.py","--server.address","0.0.0.0","--server.port","8000","--server.headless","true"]',
    8000,
  ],
  [
    "dash",
    { "requirements.txt": "dash\n", "app.py": "app = Dash(__name__)\nserver = app.server\n" },
    "python",
    '["gunicorn","--bind","0.0.0.0:8000","app:server"]',
    8000,
  ],
  [
    "a Python file",
    { "requirements.txt": "requests\n", "main.py": "import http.server" },
    "python",
    '["python","main.py"]',
    8000,
  ],
  ["mkdocs", { "mkdocs.yml": "site_name: x" }, "python", "/app/site", 80],
  [
    "rails",
    {
      Gemfile: 'gem "rails"\ngem "puma"\n',
      "config/application.rb": "",
      "package.json": packageOf(["esbuild"], { build: "esbuild" }),
    },
    "ruby",
    '["bundle","exec","puma","-p","3000"]',
    3000,
  ],
  [
    "rack",
    { Gemfile: 'gem "sinatra"\ngem "puma"\n', "config.ru": "" },
    "ruby",
    '["bundle","exec","puma","-b","tcp://0.0.0.0:9292"]',
    9292,
  ],
  [
    "sinatra",
    { Gemfile: "gem 'sinatra'\n", "app.rb": "" },
    "ruby",
    '["bundle","exec","ruby","app.rb","-o","0.0.0.0","-p","9292"]',
    9292,
  ],
  ["jekyll", { Gemfile: 'gem "jekyll"\n', "_config.yml": "", "index.html": "" }, "ruby", "/app/_site", 80],
  [
    "laravel with vite",
    {
      artisan: "",
      "composer.json": '{"require":{"php":"^8.2"}}',
      "package.json": packageOf(["vite"], { build: "vite build", dev: "vite" }),
      "public/index.php": "",
    },
    "php",
    "/var/www/html/public",
    80,
  ],
  ["symfony", { "composer.json": "{}", "bin/console": "", "public/index.php": "" }, "php", "/var/www/html/public", 80],
  ["php", { "index.php": "", "package.json": packageOf(["gulp"]) }, "php", "/var/www/html", 80],
  [
    "dotnet",
    {
      "Shop.sln": "",
      "src/Shop/Shop.csproj": webProject,
      "tests/Shop.Tests/Shop.Tests.csproj": webProject,
      "package.json": "{}",
    },
    "dotnet",
    '["dotnet","Shop.dll"]',
    8080,
  ],
  [
    "spring by maven",
    { "pom.xml": `<java.version>17</java.version>${springBoot}` },
    "java",
    '["java","-XX:MaxRAMPercentage=75","-jar","/app/app.jar"]',
    8080,
  ],
  [
    "quarkus",
    { "pom.xml": "<artifactId>quarkus-maven-plugin</artifactId>" },
    "java",
    '["java","-XX:MaxRAMPercentage=75","-jar","/app/quarkus-run.jar"]',
    8080,
  ],
  [
    "gradle application",
    { "build.gradle.kts": "plugins { application }", "settings.gradle.kts": 'rootProject.name = "shop"' },
    "java",
    '["/app/bin/shop"]',
    8080,
  ],
  [
    "go",
    {
      "go.mod": "module example.com/x\n\ngo 1.23\n",
      "main.go": 'package main\nimport "net/http"\nhttp.ListenAndServe',
    },
    "go",
    '["/app"]',
    8080,
  ],
  ["rust", { "Cargo.toml": '[package]\nname = "shop"\n', "src/main.rs": "" }, "rust", '["/usr/local/bin/app"]', 8080],
  [
    "phoenix",
    { "mix.exs": 'app: :shop,\n aliases: ["assets.deploy": []]', "assets/package.json": "{}", "package.json": "{}" },
    "elixir",
    '["/app/bin/shop","start"]',
    4000,
  ],
  ["hugo", { "hugo.toml": "", "package.json": "{}" }, "hugo", "/out", 80],
  ["pages", { "index.html": "" }, "static", "/usr/share/nginx/html", 80],
];

describe("what a folder of a kind is built with, and starts with", () => {
  test.each(kinds)("%s", (_kind, files, runtime, start, port = 3000) => {
    const build = made(files);
    expect([build.runtime, build.port, build.noStart]).toEqual([runtime, port, undefined]);
    const [, command] = /^CMD (.*)$/m.exec(build.dockerfile) ?? [];
    if (start.startsWith("[")) expect(command).toBe(start);
    else expect(build.dockerfile.split(/[\s=]/)).toContain(start);
  });

  test("no start is a server for developers", () => {
    for (const [kind, files] of kinds) {
      const start = startOf(files) ?? "[]";
      const script = /"(?:run|yarn|pnpm)","?(?:run",")?([\w:]+)"\]$/.exec(start)?.[1];
      const { scripts = {} } = JSON.parse(files["package.json"] ?? "{}");
      expect([kind, isForDevelopers(script === undefined ? start : (scripts[script] ?? ""))]).toEqual([kind, false]);
    }
  });

  test.each([
    ["vite", true],
    ["vite --host", true],
    ["vite preview", false],
    ["vite build", false],
    ["tsc && vite", true],
    ["next dev -p 3000", true],
    ["next start", false],
    ["ng serve --open", true],
    ["nodemon -x node", true],
    ["cross-env NODE_ENV=production node dist/index.js", false],
    ["node --watch a.js", true],
    ["parcel index.html", true],
    ["nest start", true],
    ["astro dev", true],
  ])("the script %j is for developers: %p", (script, isOne) => {
    expect(isForDevelopers(script)).toBe(isOne);
  });
});

describe("versions that a folder asks for", () => {
  const node = (engines: string) => ({
    "package.json": packageOf(["express"], { start: "x" }, { engines: { node: engines } }),
  });
  const python = (range: string) => ({ "pyproject.toml": `[project]\nrequires-python = "${range}"\n`, "main.py": "" });
  const ruby = (range: string) => ({ Gemfile: `ruby "${range}"\n`, "config.ru": "" });
  const php = (range: string) => ({ "composer.json": JSON.stringify({ require: { php: range } }), "index.php": "" });
  const pom = (text: string) => ({ "pom.xml": text });
  test.each([
    [node(">=14"), "node:24-slim"],
    [node("^18 || ^20"), "node:20-slim"],
    [node("18.x"), "node:18-slim"],
    [node("20.11.1"), "node:20.11.1-slim"],
    [node("not a range"), "node:24-slim"],
    [{ "package.json": JSON.stringify({ dependencies: { "react-scripts": "^4.0.3" } }) }, "node:16-slim"],
    [{ "package.json": JSON.stringify({ dependencies: { "react-scripts": "5.0.1" } }) }, "node:24-slim"],
    [{ "requirements.txt": "x", "main.py": "" }, "python:3.12-slim"],
    [{ ...node(">=14"), ".nvmrc": "lts/iron\n" }, "node:20-slim"],
    [{ ...node(">=14"), ".nvmrc": "v18.2.0\nRUN evil" }, "node:18.2.0-slim"],
    [python(">=3.9,<3.12"), "python:3.11-slim"],
    [python("~=3.10"), "python:3.13-slim"],
    [python("==3.11.*"), "python:3.11-slim"],
    [{ ...python(">=3.9"), ".python-version": "3.12" }, "python:3.12-slim"],
    [{ "requirements.txt": "x", "main.py": "", "runtime.txt": "python-3.10.4" }, "python:3.10.4-slim"],
    [{ "pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.10"\n', "main.py": "" }, "python:3.13-slim"],
    [ruby("3.2.1"), "ruby:3.2.1-slim"],
    [ruby("~> 3.2.0"), "ruby:3.2-slim"],
    [ruby(">= 3.1"), "ruby:3.4-slim"],
    [php("^8.1"), "php:8.4-apache"],
    [php("~8.1.0|~8.2.0"), "php:8.2-apache"],
    [php("^7.4"), "php:7.4-apache"],
    [pom("<java.version>17</java.version>"), "maven:3-eclipse-temurin-17"],
    [pom("<maven.compiler.source>1.8</maven.compiler.source>"), "maven:3-eclipse-temurin-8"],
    [{ "build.gradle": "java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }" }, "gradle:jdk17"],
    [{ "go.mod": "module x\ngo 1.21\ntoolchain go1.23.4\n", "main.go": "package main" }, "golang:1.23"],
    [
      { "Cargo.toml": '[package]\nname = "a"\n', "src/main.rs": "", "rust-toolchain.toml": 'channel = "1.79.0"' },
      "rust:1.79.0",
    ],
    [{ "A.csproj": webProject }, "mcr.microsoft.com/dotnet/sdk:9.0"],
  ])("%j is built on %s", (files, base) => {
    expect(made(files as Files).dockerfile.split("\n")[0]).toBe(`ARG BASE=${base}`);
  });
});

describe("what an install needs is there", () => {
  const order = (files: Files) => {
    const lines = made(files).dockerfile.split("\n");
    const install = lines.findIndex((line) => /^RUN (?:npm|pnpm|yarn|bun) (?:ci|install)(?! -g)/.test(line));
    return lines.indexOf("COPY . .") < install
      ? "all"
      : lines.slice(0, install).findLast((line) => line.startsWith("COPY"));
  };
  const plain = packageOf(["express"], { start: "node ." });
  test.each([
    [{ "package.json": plain, "package-lock.json": "" }, "COPY package.json package-lock.json ./"],
    [{ "package.json": plain, "yarn.lock": "", ".yarnrc.yml": "" }, "COPY package.json yarn.lock .yarnrc.yml ./"],
    [{ "package.json": plain, "pnpm-lock.yaml": "" }, "COPY package.json pnpm-lock.yaml ./"],
    [{ "package.json": plain, ".npmrc": "", ".berthignore": "!.npmrc\n" }, "COPY package.json .npmrc ./"],
    [{ "package.json": plain, ".npmrc": "" }, "COPY package.json ./"],
    [{ "package.json": packageOf(["express"], { start: "x", postinstall: "prisma generate" }) }, "all"],
    [{ "package.json": plain, "prisma/schema.prisma": "" }, "all"],
    [{ "package.json": plain, "patches/a.patch": "" }, "all"],
    [{ "package.json": packageOf(["express"], { start: "x" }, { workspaces: ["lib"] }) }, "all"],
    [{ "package.json": JSON.stringify({ dependencies: { a: "file:../a" }, scripts: { start: "x" } }) }, "all"],
  ])("%j: %s", (files, copied) => {
    expect(order(files as Files)).toBe(copied);
  });

  test("requirements that name other files are installed from the whole source", () => {
    const { dockerfile } = made({ "requirements.txt": "-r base.txt\n", "main.py": "" });
    expect(dockerfile.indexOf("COPY . .")).toBeLessThan(dockerfile.indexOf("RUN pip"));
  });
});

describe("what is assumed is said", () => {
  test.each([
    [{ "package.json": packageOf(["vite"], { start: "vite", build: "vite build" }) }, "makes pages in dist"],
    [
      { "package.json": packageOf(["express"], { start: "nodemon a.js" }), "server.js": "" },
      '"start" of package.json is for developers',
    ],
    [{ "requirements.txt": "flask", "app.py": flask }, "gunicorn is installed beside"],
    [
      { "package.json": packageOf(["express"], { start: "node ." }), ".npmrc": "" },
      'write the line "!.npmrc" into .berthignore',
    ],
    [
      { "go.mod": "module x\n", "cmd/a/main.go": "package main", "cmd/server/main.go": "package main" },
      "cmd/server is built, and not cmd/a",
    ],
    [{ Gemfile: "", "config/application.rb": "", "config/database.yml": "" }, '"rails", "db:migrate"'],
    [{ Gemfile: "", "config/application.rb": "", "config/credentials.yml.enc": "" }, "set RAILS_MASTER_KEY"],
    [{ Gemfile: "", "config/application.rb": "" }, "set SECRET_KEY_BASE"],
    [
      { "requirements.txt": "flask", "app.py": flask, "package.json": packageOf(["express"], { start: "node ." }) },
      "set build.lang.name: python",
    ],
    [
      { "package.json": '{"workspaces":["apps/*"]}', "apps/web/package.json": packageOf(["next"]) },
      "the app is the workspace apps/web",
    ],
  ])("%j", (files, text) => {
    expect(made(files as Files).notes.join("\n")).toContain(text);
  });

  test.each([
    ["requirements.txt", "fastapi[standard]>=0.110\n"],
    ["pyproject.toml", '[project]\ndependencies = ["fastapi[all]"]\n'],
    ["pyproject.toml", '[tool.poetry.dependencies]\nfastapi = {version = "*", extras = ["standard"]}\n'],
  ])("an extra of FastAPI in %s brings uvicorn: %j", (file, text) => {
    const { dockerfile, notes } = made({ [file]: text, "main.py": fastapi });
    expect([dockerfile.includes("install --no-cache-dir uvicorn"), notes.join("\n")]).toEqual([
      false,
      expect.not.stringContaining("uvicorn"),
    ]);
    expect(
      made({ [file]: text.replace(/\[(standard|all)\]|, extras.*\]/, ""), "main.py": fastapi }).dockerfile,
    ).toContain("uvicorn\n");
  });

  test("visitors of a folder that is served whole cannot read its manifests", () => {
    const hides = (files: Files) => /^RUN rm -rf (.*)$/m.exec(made(files).dockerfile)?.[1]?.split(" ")[0];
    expect(hides({ "index.html": "" })).toBe("/usr/share/nginx/html/berth.yaml");
    expect(hides({ "index.php": "" })).toBe("berth.yaml");
    expect(hides({ "public/index.html": "" })).toBeUndefined();
    expect(hides({ "public/index.php": "" })).toBeUndefined();
  });

  test.each([
    [{ "package.json": "{}" }, "no start script"],
    [{ "requirements.txt": "flask" }, "no file that starts the Python program"],
    [{ Gemfile: "" }, "no file that starts the Ruby program"],
    [{ "deno.json": "{}" }, "no file that starts the Deno program"],
  ])("%j has nothing to start", (files, text) => {
    const { noStart, dockerfile } = made(files as Files);
    expect(noStart).toContain(text);
    expect(dockerfile).not.toContain("CMD");
    expect(made({ ...(files as Files), Procfile: "web: ./run --port $PORT\n" })).toMatchObject({ noStart: undefined });
  });

  test.each([
    [{ "package.json": packageOf(["@sveltejs/kit", "vite"]) }, "install @sveltejs/adapter-node"],
    [
      {
        "package.json": '{"workspaces":["apps/*"]}',
        "apps/a/package.json": packageOf(["next"]),
        "apps/b/package.json": packageOf(["next"]),
      },
      "name one, as in build.path: apps/a (berth init --path apps/a)",
    ],
    [{ "a.csproj": "<Project/>" }, "no project of .NET makes a program"],
    [{ "Cargo.toml": '[package]\nname = "lib"\n', "src/lib.rs": "" }, "names no program"],
    [{ "composer.json": "{}" }, "no page to begin with"],
    [{ "go.mod": "module x\n", "x.go": "package x\n" }, "no program in its folder"],
  ])("%j cannot be built", (files, text) => {
    expect(generate(files as Files)).toEqual({ ok: false, problem: expect.stringContaining(text) });
  });
});

test("a web process of a Procfile starts as in a manifest: its last program gets the signals", () => {
  for (const file of ["package.json", "requirements.txt", "Gemfile", "deno.json"]) {
    const files = { [file]: "{}", Procfile: "worker: node w\nweb: cd api && node x\n" };
    expect(startOf(files)).toBe('["sh","-c","cd api && exec node x"]');
  }
});

test("whatever it is, the base image is an argument, and a program does not run as root", () => {
  for (const [, files] of kinds) {
    const { dockerfile, port, runtime } = made(files);
    expect(dockerfile).toMatch(/^ARG BASE=\S+$/m);
    expect(dockerfile).toContain("FROM ${BASE}");
    if (port !== 80) expect([runtime, dockerfile]).toEqual([runtime, expect.stringMatching(/^USER (?!root|0)/m)]);
  }
});

test("the manifest wins over what is found", () => {
  const build = made({ "package.json": "{}" }, { name: "python", version: "3.9", entrypoint: "web.py" });
  expect(build.dockerfile).toContain("python:3.9-slim");
  expect(build.dockerfile).toContain('CMD ["python","web.py"]');
  expect(made({ "go.mod": "" }, { path: "cmd/api" }).dockerfile).toContain("./cmd/api");
  expect(startOf({ "package.json": packageOf(["vite"]) }, { entrypoint: "serve.js" })).toBe('["node","serve.js"]');
});

test.each([
  [{ "README.md": "" }, {}, "the folder has no Dockerfile"],
  [{}, { name: "pyton" }, '"pyton" is not known; did you mean "python"'],
  [{ "go.mod": "" }, { version: "1\nRUN evil" }, "is not a version"],
  [{ "go.mod": "" }, { path: "a b" }, "is not a path"],
  [{ "package.json": "{}" }, { entrypoint: 'x"]\nRUN evil' }, "is not a path"],
])("%j with %j is refused", (files, choice, text) => {
  const result = generate(files as Files, choice);
  expect(result).toEqual({ ok: false, problem: expect.stringContaining(text) });
});

test("whatever the files of a folder say, none of it begins a line of the Dockerfile, and nothing fails", () => {
  const evil = fc.constantFrom("\nRUN evil", "\r\nRUN evil", "a\nRUN evil", '"]\nRUN evil', " && evil", "$(evil)");
  const names = [
    ...["package.json", "angular.json", "pnpm-workspace.yaml", ".nvmrc", "Gemfile", ".ruby-version", "pyproject.toml"],
    ...["requirements.txt", "manage.py", "app.py", "go.mod", "Cargo.toml", "mix.exs", "pom.xml", "build.gradle"],
    ...["settings.gradle", "A.csproj", "composer.json", "deno.json", "Procfile", "rust-toolchain", "vite.config.js"],
    ...["render.yaml", "fly.toml", "railway.json", "nixpacks.toml", "app.json", "client/package.json", "src/main.rs"],
  ];
  const text = fc.oneof(
    evil,
    evil.map((bad) =>
      packageOf(
        ["express", "@angular/core"],
        { start: bad, build: bad },
        { main: bad, engines: { node: bad }, packageManager: bad },
      ),
    ),
    evil.map((bad) =>
      JSON.stringify({
        projects: { [bad]: { architect: { build: { options: { outputPath: bad } } } } },
        workspaces: [bad],
      }),
    ),
    evil.map(
      (bad) =>
        `[start]\ncmd = "${bad}"\n[variables]\nPYTHON_VERSION = "${bad}"\nmodule ${bad}\ngo ${bad}\napp: :x${bad}\nruby "${bad}"\n[package]\nname = "${bad}"\napp = Flask(${bad})`,
    ),
  );
  const path = fc.oneof(
    fc.constantFrom(...names),
    fc.tuple(evil, fc.constantFrom(...names)).map(([bad, name]) => `${bad.replaceAll("/", "")}/${name}`),
  );
  fc.assert(
    fc.property(fc.dictionary(path, text, { maxKeys: 6 }), (files) => {
      const result = generate(files);
      if (!result.ok) return;
      for (const line of result.build.dockerfile.split("\n"))
        expect(line).not.toMatch(/^\s*RUN evil|&& evil|\$\(evil\)(?!.*"\])/);
    }),
    { numRuns: 500 },
  );
});

test("a build is named by what it is made from", () => {
  const input = { context: "c", dockerfile: "Dockerfile", target: undefined, args: { A: "1", B: "2" } };
  expect(buildId(input)).toBe(buildId({ ...input, args: { B: "2", A: "1" } }));
  for (const other of [{ context: "d" }, { dockerfile: "D" }, { target: "t" }, { args: { A: "1" } }]) {
    expect(buildId({ ...input, ...other })).not.toBe(buildId(input));
  }
});

test("the image of a spec without one", () => {
  expect(builtImage("shop", "web", { buildId: undefined })).toBe("shop-web:latest");
  expect(builtImage("shop", "web", { buildId: "0123456789ab" })).toBe("shop-web:0123456789ab");
});
