// biome-ignore-all lint/suspicious/noTemplateCurlyInString: sources hold such text
import { describe, expect, test } from "bun:test";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;
function made(files: Files) {
  const result = generateDockerfile(treeOf(files), {});
  if (!result.ok) throw new Error(result.problem);
  return { ...result.build, notes: result.build.notes.join("\n") };
}
const express = (text: string, packages = '"express":"4"'): Files => ({
  "package.json": `{"scripts":{"start":"node app.js"},"dependencies":{${packages}},"engines":{"node":"22"}}`,
  "package-lock.json": "{}",
  "app.js": `${text}\napp.listen(process.env.PORT);`,
});
const vite = (text: string): Files => ({
  "package.json": '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"5"},"engines":{"node":"22"}}',
  "package-lock.json": "{}",
  "src/main.tsx": text,
});
const spring = (text: string): Files => ({
  "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId><java.version>21</java.version>",
  "src/main/java/com/example/shop/Shop.java": text,
});

describe("an address that is another machine once it runs is said", () => {
  test.each<[string, Files, string]>([
    [
      "pages ask the machine of each visitor",
      vite('fetch("http://localhost:4001/tasks")'),
      "src/main.tsx asks http://localhost:4001",
    ],
    [
      "so do components",
      { ...vite(""), "src/List.vue": "const url = `http://127.0.0.1:5005/tasks`" },
      "src/List.vue asks http://127.0.0.1:5005",
    ],
    [
      "pages beside a program",
      { ...express(""), "public/js/list.js": "fetch('http://localhost:3000/tasks')" },
      "public/js/list.js asks http://localhost:3000",
    ],
    ["a form", { ...express(""), "views/new.ejs": '<form action="http://localhost:3000/new">' }, "views/new.ejs asks"],
    [
      "the program asks its own container",
      express('const found = await axios.get("http://localhost:5050/stock")'),
      "http://localhost:5050 is the container itself",
    ],
    [
      "the program asks a host of Compose",
      express('const stockUrl = "http://stock:8080"'),
      "http://stock:8080 is a host of another network",
    ],
    [
      "a link in a mail",
      spring('class Mail { void send() { text("Open: http://localhost:4200/confirm?key=" + key); } }'),
      "src/main/java/com/example/shop/Shop.java leads visitors to http://localhost:4200",
    ],
    [
      "a redirect",
      express('res.redirect("http://localhost:5173/stock")'),
      "app.js leads visitors to http://localhost:5173",
    ],
    [
      "a database in a package called com.example",
      {
        ...spring('class Shop { String at = "jdbc:mysql://localhost:3306/shop"; }'),
        "src/main/java/com/example/shop/App.java": "class App { void main() { SpringApplication.run(App.class); } }",
      },
      "needs another address of MySQL or MariaDB: src/main/java/com/example/shop/Shop.java names this machine",
    ],
    [
      "a constant of PHP",
      {
        "index.php": "<?php require 'settings.php'; mysqli_connect(DB_HOST, 'a', 'b');",
        "settings.php": "<?php define('DB_HOST', 'localhost:3306');",
      },
      "needs another address of MySQL or MariaDB: settings.php names this machine",
    ],
  ])("%s", (_kind, files, note) => {
    expect(made(files).notes).toContain(note);
  });

  test.each<[string, Files]>([
    ["lists of who may ask", express('app.use(cors({ origin: "http://localhost:5173" }))')],
    ["a list in lines", express('const known = [\n  "http://localhost:5173",\n  "http://localhost:4200/",\n];')],
    ["a link of a log", express('logger.info("Open http://localhost:3000/" + path)')],
    ["logs", express('console.log("http://localhost:3000")')],
    ["a default of a variable", vite('const at = import.meta.env.VITE_API ?? "http://localhost:3001"')],
    ["another platform on the web", express('axios.get("https://api.example.com/x")')],
    [
      "settings for developers",
      { ...vite(""), "vite.config.ts": 'export default { target: "http://localhost:3001" }' },
    ],
  ])("not %s", (_kind, files) => {
    expect(made(files).notes).not.toMatch(/another address|address of (?:what|its links)/);
  });

  test("a constant of PHP is no variable", () => {
    const files = { "index.php": "<?php define('DB_HOST', 'localhost'); mysqli_connect(DB_HOST, 'a', 'b');" };
    expect(made(files).notes).not.toContain("DB_HOST in env");
  });

  test("a driver of Django is no file of SQLite", () => {
    const notes = made({
      "requirements.txt": "django==5\n",
      "manage.py": "DJANGO_SETTINGS_MODULE",
      "shop/wsgi.py": "application = 1",
      "shop/settings.py":
        "INSTALLED_APPS = []\nDATABASES = {'default': {'ENGINE': os.environ.get('ENGINE', 'django.db.backends.sqlite3')}}\n",
    }).notes;
    expect(notes).not.toContain("ENGINE:");
    expect(notes).toContain("needs a volume: a database of SQLite (shop/settings.py)");
  });
});

describe("a tool or a module that the packages or the folder do not have", () => {
  const schema = { "prisma/schema.prisma": 'datasource db {\n provider = "postgresql"\n url = env("DATABASE_URL")\n}' };
  test("the client of Prisma is made without the package prisma", () => {
    const client = '"express":"4","@prisma/client":"^5.2.0"';
    const { dockerfile, notes } = made({ ...express("", client), ...schema });
    expect(dockerfile).toContain("RUN npx --yes prisma@5 generate");
    expect(notes).toContain("add it to devDependencies");
    expect(notes).toContain('["npx", "--yes", "prisma@5", "db", "push"]');
    const bun = made({
      ...schema,
      "package.json": '{"module":"main.ts","dependencies":{"elysia":"1","@prisma/client":"5"}}',
      "bun.lock": "",
      "main.ts": "new Elysia().listen(8080)",
    });
    expect(bun.dockerfile).toContain("RUN bunx prisma@5 generate");
    expect(made({ ...express("", `${client},"prisma":"5"`), ...schema }).dockerfile).toContain(
      "RUN npx prisma generate",
    );
  });

  const phoenix = {
    "mix.exs": 'defmodule Shop.MixProject do\n app: :shop, {:phoenix, "~> 1.7"}, {:postgrex, "1"}\nend',
    "priv/repo/migrations/1_a.exs": "use Ecto.Migration",
    "lib/shop/a.ex": 'System.get_env("PORT")',
  };
  test("migrations of Phoenix need a module in the release", () => {
    expect(made(phoenix).notes).toContain("add one with mix phx.gen.release");
    expect(made({ ...phoenix, "lib/shop/release.ex": "" }).notes).not.toContain("phx.gen.release");
  });
  test("assets of Phoenix are built by the script that there is", () => {
    const assets = (script: string) =>
      made({ ...phoenix, "assets/package.json": `{"scripts":{${script}}}` }).dockerfile;
    expect(assets('"build":"webpack"')).toContain("RUN npm run build --prefix assets\nRUN mix phx.digest");
    expect(assets('"deploy":"webpack","build":"webpack"')).toContain("RUN npm run deploy --prefix assets");
    expect(assets('"build":"webpack --watch"')).not.toContain("npm run");
  });
});

describe("programs that only their sources show", () => {
  test.each<[string, Files, string]>([
    ["Deno by its imports", { "main.ts": 'import { a } from "https://deno.land/x/oak/mod.ts"' }, '"deno","run"'],
    ["Deno by a call", { "server.ts": "Deno.serve(() => new Response())" }, '"deno","run"'],
    [
      "Sinatra in a file of any name",
      { Gemfile: 'gem "sinatra"\ngem "puma"\n', "tasks.rb": "require 'sinatra'\nget '/' do; end" },
      '"ruby","tasks.rb","-o","0.0.0.0","-p","9292"',
    ],
  ])("%s", (_kind, files, words) => {
    expect(made(files).dockerfile).toContain(words);
  });
  test("Ruby without a Gemfile is refused with what to write", () => {
    const result = generateDockerfile(treeOf({ "main.rb": "require 'sinatra'" }), {});
    expect(result.ok || result.problem).toContain("name the gems of its Ruby files in a Gemfile");
  });
});

describe("work at set times that nothing runs is said", () => {
  test.each<[string, Files, string]>([
    [
      "Laravel",
      {
        "composer.json": '{"require":{"laravel/framework":"^11"}}',
        artisan: "",
        "routes/console.php": "<?php Schedule::command('tasks:close')->daily();",
      },
      "nothing runs Laravel's schedule (routes/console.php)",
    ],
    [
      "Celery",
      { "requirements.txt": "flask\ncelery\n", "app.py": "app = Flask(__name__)\ncelery.conf.beat_schedule = {}" },
      "nothing runs Celery's schedule (app.py)",
    ],
    [
      "whenever",
      { Gemfile: 'gem "sinatra"', "app.rb": "require 'sinatra'", "config/schedule.rb": "every 1.day do; end" },
      "nothing runs config/schedule.rb",
    ],
  ])("%s", (_kind, files, note) => {
    expect(made(files).notes).toContain(note);
  });
});

describe("what happens once the program runs is said", () => {
  const flask = (text: string, packages = "flask==3\ngunicorn==22\n"): Files => ({
    ".python-version": "3.12",
    "requirements.txt": packages,
    "app.py": `from flask import Flask\n${text}\napp = Flask(__name__)\n`,
  });
  test.each<[string, Files, string]>([
    [
      "Spring drops its tables",
      {
        ...spring("class Shop {}"),
        "src/main/resources/application.properties": "spring.jpa.hibernate.ddl-auto=create-drop",
      },
      'src/main/resources/application.properties: it drops tables ("ddl-auto=create")',
    ],
    ["Sequelize drops its tables", express("db.sync({ force: true })"), "app.js: it drops tables"],
    [
      "models are fetched",
      flask("model = AutoModel.from_pretrained('tiny')"),
      "a place for the models that app.py fetches",
    ],
    [
      "a package of Node is missing",
      express('const helmet = require("helmet")'),
      "needs helmet (app.js) among its packages",
    ],
    [
      "a package of Python is missing",
      flask("from flask_cors import CORS"),
      "needs flask_cors (app.py) among its packages",
    ],
    [
      "a program of Rust listens for itself",
      {
        "Cargo.toml": '[package]\nname = "x"\n',
        "src/main.rs": "TcpListener::bind((Ipv4Addr::new(127, 0, 0, 1), port))",
      },
      "listens on localhost alone",
    ],
  ])("%s", (_kind, files, note) => {
    expect(made(files).notes).toContain(note);
  });

  test.each<[string, Files]>([
    ["what Node has itself", express('require("fs/promises"); require("node:path")')],
    [
      "what the lock file has",
      { ...express('require("qs")'), "package-lock.json": '{"packages":{"node_modules/qs":{}}}' },
    ],
    ["types alone", express('import type { Request } from "express-core"', '"express":"4","@types/express-core":"1"')],
    [
      "another name for a folder",
      {
        ...express('import { a } from "stock/a"'),
        "tsconfig.json": '{"compilerOptions":{"paths":{"stock/*":["./lib/*"]}}}',
      },
    ],
    ["what another package brings", flask("from flask_sqlalchemy import SQLAlchemy", "flask==3\nflask-migrate==4\n")],
    ["a module of its own", { ...flask("import environ"), "environ.py": "" }],
    ["seeds", { ...express(""), "seeds/shop.js": 'run("DROP TABLE IF EXISTS a")' }],
  ])("not %s", (_kind, files) => {
    expect(made(files).notes).not.toMatch(/among its packages|drops tables/);
  });

  test.each<[string, Files]>([
    ["Java", spring("class Shop { void keep() { Files.copy(in, at); } }")],
    [
      "Bun",
      {
        "package.json": '{"module":"a.ts"}',
        "bun.lock": "",
        "a.ts": 'Bun.serve({ port: 80 }); Bun.write("a.txt", "b")',
      },
    ],
  ])("files that %s writes are said", (_kind, files) => {
    expect(made(files).notes).toContain("is in the container, and each new version begins without it");
  });

  test("the file that a script for developers watches is started", () => {
    const files = {
      "package.json": '{"scripts":{"dev":"nodemon --inspect backend/shop.js"},"dependencies":{"express":"5"}}',
      "backend/shop.js": "app.listen(process.env.PORT)",
    };
    expect(made(files).dockerfile).toContain('CMD ["node","backend/shop.js"]');
  });
});

describe("what the sources ask for is read", () => {
  test("variables that are taken out of the environment together", () => {
    const text = "const { SHOP_KEY, STOCK_URL: url, CITY = 'Rome' } = process.env;";
    const { notes } = made(express(text));
    expect(notes).toContain("the sources read SHOP_KEY, STOCK_URL and have no default");
  });
  test("services that Deno imports", () => {
    const text = (from: string) => ({ "main.ts": `import { a } from "${from}";\nDeno.serve(a)` });
    expect(made(text("https://deno.land/x/mongo@v0.31.0/mod.ts")).notes).toContain("needs MongoDB");
    expect(made(text("npm:ioredis@5")).notes).toContain("needs Redis");
  });
  test("a constant with a host shows no service by itself", () => {
    const files = { "index.php": "<?php define('DB_HOST', 'localhost'); mysqli_connect(DB_HOST, 'a', 'b');" };
    const { notes } = made(files);
    expect(notes).toContain("needs MySQL or MariaDB, as its sources show");
    expect(notes).not.toContain("PostgreSQL");
  });
});
