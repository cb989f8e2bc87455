// biome-ignore-all lint/suspicious/noTemplateCurlyInString: sources hold such text
import { describe, expect, test } from "bun:test";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;

function made(files: Files) {
  const result = generateDockerfile(treeOf(files), {});
  if (!result.ok) throw new Error(result.problem);
  const { port, notes, dockerfile } = result.build;
  return { port, notes: notes.join("\n"), dockerfile };
}
const problem = (files: Files) => {
  const result = generateDockerfile(treeOf(files), {});
  return result.ok ? undefined : result.problem;
};
const go = (main: string, more: Files = {}): Files => ({
  "go.mod": "module example.com/app\n",
  "main.go": main,
  ...more,
});
const rust = (main: string): Files => ({ "Cargo.toml": '[package]\nname = "x"\n', "src/main.rs": main });
const php = (text: string, composer = "{}"): Files => ({
  "composer.json": composer,
  "public/index.php": "<?php",
  "src/a.php": text,
});

describe("a server that the app is a client of is said with where the app looks for it", () => {
  const express = (text: string, packages = '"express":"4"'): Files => ({
    "package.json": `{"scripts":{"start":"node app.js"},"dependencies":{${packages}}}`,
    "app.js": `app.listen(3000)\n${text}`,
  });
  test.each<[string, Files, string]>([
    [
      "a variable with a default",
      express('connect(process.env.MONGO_URI || "mongodb://localhost:27017/x")', '"mongoose":"8"'),
      "needs MONGO_URI in env, which says where MongoDB is (app.js)",
    ],
    [
      "a variable that a reader of the app's own gives",
      {
        "mix.exs": 'app: :x, {:postgrex, "~> 0.17"}',
        "config/runtime.exs": 'url = var(dir, "DATABASE_URL", "postgres://postgres@127.0.0.1:5432/x")',
      },
      "needs DATABASE_URL in env, which says where PostgreSQL is (config/runtime.exs)",
    ],
    [
      "this machine, in the sources",
      express('connect("redis://localhost:6379")', '"ioredis":"5"'),
      "app.js names this machine, which is the container itself; read the address there from a variable",
    ],
    [
      "this machine, in the settings of Spring",
      {
        "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId><artifactId>postgresql</artifactId>",
        "src/main/resources/application.properties": "spring.datasource.url=jdbc:postgresql://localhost:5432/x",
      },
      "set SPRING_DATASOURCE_URL, SPRING_DATASOURCE_USERNAME and SPRING_DATASOURCE_PASSWORD",
    ],
    [
      "a connection string of .NET",
      {
        "A.csproj": 'Microsoft.NET.Sdk.Web <PackageReference Include="Npgsql.EntityFrameworkCore.PostgreSQL" />',
        "Program.cs": 'o.UseNpgsql(builder.Configuration.GetConnectionString("Main"))',
        "appsettings.json": '{"ConnectionStrings":{"Main":"Host=localhost;Database=x"}}',
      },
      "needs ConnectionStrings__Main in env, which says where PostgreSQL is (Program.cs)",
    ],
    [
      "code of PHP without a package",
      php('new PDO("mysql:host=127.0.0.1;dbname=x")'),
      "src/a.php names this machine, which is the container itself",
    ],
    [
      "an array of PHP",
      php("'driver' => 'mysql',\n'host' => 'localhost'"),
      "needs MySQL or MariaDB, as its sources show, which this manifest does not start",
    ],
    [
      "the driver of another library",
      go('package main\nfunc main() { http.ListenAndServe(":80", nil) }', {
        "go.mod": "module x\nrequire github.com/uptrace/bun/driver/pgdriver v1\n",
      }),
      "needs PostgreSQL",
    ],
    ["a package that is made for one", php("<?php", '{"require":{"flarum/core":"^1"}}'), "needs MySQL or MariaDB"],
    [
      "this machine in a variable beside the code",
      php('$host = "localhost";\nnew PDO("mysql:host=$host;dbname=x");'),
      "src/a.php names this machine",
    ],
    ["two of Elixir", { "mix.exs": "app: :x, {:postgrex, 1}, {:ecto_ch, 1}" }, "needs PostgreSQL, ClickHouse"],
  ])("%s", (_, files, note) => {
    expect(made(files).notes).toContain(note);
  });

  test("settings for developers and tests say nothing", () => {
    const files = express("", '"pg":"8"');
    expect(made({ ...files, "config/test.json": '"postgres://localhost/x"' }).notes).not.toContain("this machine");
  });
});

describe("a program that takes commands starts with the one that serves", () => {
  const cobra = 'package main\nvar root = &cobra.Command{\n\tUse: "app",\n}\nfunc main() { root.Execute() }\n';
  const serve = 'package main\nvar c = &cobra.Command{\n\tUse: "serve",\n}\n';
  test.each<[string, Files, string]>([
    ["cobra", go(cobra, { "serve.go": serve }), '["/app","serve"]'],
    ["cobra whose root runs", go(cobra.replace("\tUse", "\tRun: x,\n\tUse"), { "serve.go": serve }), '["/app"]'],
    [
      "urfave/cli",
      go(
        'package main\nfunc main() {\n\tapp := &cli.App{\n\t\tName: "x",\n\t}\n}\nvar a = &cli.Command{\n\tName: "api",\n\tFlags: []cli.Flag{&cli.StringFlag{\n\tName: "addr",\n\tValue: ":8123",\n}}}\n',
      ),
      '["/app","api"]',
    ],
    [
      "clap",
      rust(
        "#[derive(Subcommand)]\nenum Commands {\n    Migrate,\n    RunServer { port: u16 },\n}\nfn main() { serve() }",
      ),
      '["/usr/local/bin/app","run-server"]',
    ],
    [
      "clap, where a command may be left out",
      rust("#[command(subcommand)]\ncommand: Option<Commands>,\n#[derive(Subcommand)]\nenum Commands {\n    Serve,\n}"),
      '["/usr/local/bin/app"]',
    ],
  ])("%s", (_, files, words) => {
    expect(made(files).dockerfile).toContain(`CMD ${words}`);
  });

  test("without one that is known to serve, all are named", () => {
    const { notes } = made(go(cobra, { "a.go": serve.replace("serve", "crunch") }));
    expect(notes).toContain("the program takes commands (crunch), and it is not known which of them starts a server");
  });

  test("a flag says the port", () => {
    const flag =
      'package main\nfunc init() { c.Flags().IntVarP(&port, "port", "p", 8085, "x"); http.ListenAndServe(a, nil) }';
    expect(made(go(cobra, { "a.go": flag })).port).toBe(8085);
    expect(made(go("package main\nvar port = 8086\nfunc main() { http.ListenAndServe(a, nil) }")).port).toBe(8086);
  });
});

describe("a Python app is found and started in its folder", () => {
  const words = (files: Files) => /^CMD (.*)$/m.exec(made(files).dockerfile)?.[1];
  const fastapi = { "requirements.txt": "fastapi\nuvicorn\n" };
  test.each<[string, Files, string]>([
    [
      "modules beside the file are imported by their own names",
      { ...fastapi, "app/main.py": "from api import x\napp = FastAPI()", "app/api/__init__.py": "" },
      '"sh","-c","cd app && exec uvicorn main:app --host',
    ],
    [
      "a package below src",
      { ...fastapi, "src/svc/main.py": "from svc.db import x\napp = FastAPI()", "src/svc/db.py": "" },
      '"svc.main:app","--app-dir","src"',
    ],
    [
      "a package of the root",
      { ...fastapi, "app/main.py": "from app.db import x\napp = FastAPI()", "app/db.py": "" },
      '"app.main:app","--host"',
    ],
    [
      "a function of its own makes the app",
      {
        ...fastapi,
        "main.py": "def start_application():\n    app = FastAPI()\n    return app\n\napp = start_application()\n",
      },
      '"main:app","--host"',
    ],
    [
      "Flask below a folder",
      {
        "requirements.txt": "flask\n",
        "web/app.py": "from models import x\napp = Flask(__name__)",
        "web/models.py": "",
      },
      '"--chdir","web","app:app"',
    ],
  ])("%s", (_, files, part) => {
    expect(words(files)).toContain(part);
  });
});

describe("extensions of PHP", () => {
  test.each<[string, Files, string]>([
    ["that the code calls", php('new mysqli("db"); imagecreatetruecolor(1, 1);'), "mysqli gd"],
    ["of a library for databases", php("", '{"require":{"doctrine/dbal":"^3"}}'), "pdo_mysql pdo_pgsql"],
    [
      "that a package of the lock file asks for",
      { ...php(""), "composer.lock": '{"packages":[{"name":"a/b","require":{"ext-intl":"*","ext-json":"*"}}]}' },
      "intl",
    ],
  ])("%s", (_, files, names) => {
    expect(made(files).dockerfile).toContain(`RUN install-php-extensions ${names}\n`);
  });
});

describe("programs of Rust with a part for the browser", () => {
  const cargo = (text: string): Files => ({
    "Cargo.toml": `[package]\nname = "site"\n${text}`,
    "src/main.rs": "fn main() {}",
  });
  test("trunk and cargo leptos build them", () => {
    const yew = made({ ...cargo('[dependencies]\nyew = "0.21"\n'), "index.html": "<html>" });
    expect([yew.port, yew.dockerfile.includes("RUN trunk build --release")]).toEqual([80, true]);
    const leptos = made(cargo('[package.metadata.leptos]\noutput-name = "s"\nsite-root = "target/site"\n'));
    expect(leptos.dockerfile).toContain("COPY --from=build /src/target/site site");
    expect(leptos.dockerfile).toContain("LEPTOS_OUTPUT_NAME=s");
  });

  test("of others, berth says that it makes no image", () => {
    expect(problem({ ...cargo(""), "Dioxus.toml": "" })).toContain('Dioxus.toml shows an app that "dx bundle" builds');
  });
});

test("build files for an old Gradle are built by one", () => {
  const { dockerfile, notes } = made({
    "build.gradle":
      'ext { javaVersion = "1.8" }\nplugins { id "com.github.johnrengelman.shadow" }\ndependencies {\n  compile "a:b:1"\n}',
  });
  expect(dockerfile).toContain("ARG BASE=gradle:6.9-jdk8");
  expect(notes).toContain("the build files are for Gradle 6 or older");
});

describe("pages that a program takes in or serves are built with it", () => {
  const vite = '{"scripts":{"build":"vite build"},"devDependencies":{"vite":"5"}}';
  test("what Go embeds", () => {
    const main = "package main\n//go:embed all:web/dist\nvar d embed.FS\nfunc main() { http.ListenAndServe(a, nil) }";
    const { dockerfile, notes } = made(go(main, { "web/package.json": vite, "web/package-lock.json": "{}" }));
    expect(dockerfile).toContain("RUN cd web && npm ci && npm run build\nFROM ${BASE} AS build");
    expect(dockerfile).toContain("COPY . .\nCOPY --from=pages /src/web/dist ./web/dist\n");
    expect(notes).not.toContain("needs web/dist");
  });
  test("what Rust embeds, which the build puts elsewhere", () => {
    const files = {
      ...rust('#[derive(RustEmbed)]\n#[folder = "assets/dist/"]\nstruct A;\nfn main() {}'),
      "ui/package.json": vite,
    };
    const { dockerfile } = made({ ...files, "ui/vite.config.ts": 'build: { outDir: "../assets/dist" }' });
    expect(dockerfile).toContain("COPY --from=pages /src/assets/dist ./assets/dist");
    expect(made(files).notes).toContain("needs assets/dist, as src/main.rs shows");
  });
  test("what a server of Node serves, or that it does not", () => {
    const app = (text: string) => ({
      "package.json": '{"scripts":{"start":"node app.js"},"dependencies":{"express":"4"}}',
      "app.js": `app.listen(3000)\n${text}`,
      "client/package.json": vite,
    });
    expect(made(app('express.static(path.join(__dirname, "client", "dist"))')).dockerfile).toContain(
      "RUN cd client && npm install && npm run build",
    );
    expect(made(app("")).notes).toContain(
      "client holds pages of another app, which this image neither builds nor serves",
    );
  });
  test("styles that no script build makes", () => {
    const scripts = (text: string) => ({ "package.json": `{"scripts":{${text}}}`, "public/index.html": "<html>" });
    const { dockerfile, port } = made(scripts('"build:css":"sass a:public","watch":"sass --watch a:public"'));
    expect([port, /RUN npm run (.*)/.exec(dockerfile)?.[1]]).toEqual([80, "build:css"]);
    expect(dockerfile).toContain("COPY --from=build /app/public /usr/share/nginx/html");
    expect(made(scripts('"build":"npm run css","css":"sass a:public"')).dockerfile.match(/npm run/g)).toHaveLength(1);
  });
});

describe("what an app needs beside", () => {
  test.each<[string, Files, string]>([
    [
      "readers of variables of its own",
      go('package main\nfunc main() { key := mustGetEnv("API_KEY"); http.ListenAndServe(a, nil) }'),
      "the sources read API_KEY",
    ],
    [
      "two words to such a reader",
      { "mix.exs": "app: :x", "config/runtime.exs": 'base = get_var_from_path_or_env(dir, "BASE_URL")\nEndpoint' },
      "the sources read BASE_URL",
    ],
    [
      "settings of AdonisJS",
      {
        "package.json": '{"dependencies":{"@adonisjs/core":"6"}}',
        "start/env.ts": "Env.create(x, {\n  APP_KEY: Env.schema.string(),\n})",
      },
      "the sources read APP_KEY",
    ],
    [
      "SQLite, which only the packages show",
      {
        "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"better-sqlite3":"9"}}',
        "a.js": "listen(1)",
      },
      "needs a volume: a database of SQLite, which its packages show",
    ],
    [
      "the database of a schema of Prisma in another folder",
      {
        "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"@prisma/client":"5"}}',
        ...{ "a.js": "app.listen(3000)", "db/schema.prisma": 'provider = "postgres"\nurl = env("DB_ADDRESS")' },
      },
      "the sources read DB_ADDRESS",
    ],
    [
      "migrations of Sinatra",
      { Gemfile: 'gem "sinatra-activerecord"\ngem "puma"', "config.ru": "run A", "db/migrate/1.rb": "" },
      'release: { command: ["bundle", "exec", "rake", "db:migrate"] }',
    ],
    ["workers", { Gemfile: 'gem "sidekiq"\ngem "puma"', "config.ru": "run A" }, "no worker of Sidekiq runs"],
    [
      "settings of Django for production",
      {
        "requirements.txt": "django\n",
        "manage.py": 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")  # django',
        "config/settings/production.py": "A = 1",
        "config/wsgi.py": "",
      },
      "the settings are config.settings.production, beside config.settings.local",
    ],
  ])("%s", (_, files, note) => {
    expect(made(files).notes).toContain(note);
  });
});

describe("what ends a program, or hides it, at its start", () => {
  test.each<[string, Files, string]>([
    [
      "a file .env that PHP asks for",
      { ...php("<?php"), "public/index.php": "$d = Dotenv\\Dotenv::createImmutable(1);\n$d->load();" },
      "has an empty one",
    ],
    ["a file .env that Rust asks for", rust("fn main() { dotenvy::dotenv().unwrap(); serve() }"), "has an empty one"],
    [
      "a file .env that Go asks for",
      go(
        "package main\nfunc main() { if err := godotenv.Load(); err != nil { log.Fatal(err) }\nhttp.ListenAndServe(a, nil) }",
      ),
      "needs no file .env to start",
    ],
    [
      "an address of this machine in a text with a port",
      rust('const PORT: i32 = 3000;\nfn main() { TcpListener::bind(format!("127.0.0.1:{PORT}")) }'),
      "src/main.rs listens on localhost alone",
    ],
    [
      "variables of Symfony's settings",
      { ...php("<?php class A {}"), "bin/console": "", "config/packages/a.yaml": "a: '%env(resolve:MAILER_DSN)%'" },
      "the sources read MAILER_DSN",
    ],
    [
      "a build that asks the database",
      {
        "package.json":
          '{"scripts":{"start":"node a.js","build":"prisma migrate deploy && tsc"},"dependencies":{"prisma":"5"}}',
        "a.js": "app.listen(3000)",
      },
      '"build" of package.json changes the database, which no build reaches',
    ],
    [
      "whitenoise that is not used",
      {
        "requirements.txt": "django\nwhitenoise\n",
        "manage.py": "django",
        "shop/settings.py": 'INSTALLED_APPS = ["django.contrib.admin"]\nMIDDLEWARE = []',
        "shop/wsgi.py": "",
      },
      "whitenoise is installed but not in MIDDLEWARE",
    ],
    [
      "a data source of Go at this machine",
      go('package main\nvar dsn = "root:pw@tcp(localhost:3306)/x"\nfunc main() { http.ListenAndServe(a, nil) }', {
        "go.mod": "module x\nrequire gorm.io/driver/mysql v1\n",
      }),
      "main.go names this machine, which is the container itself",
    ],
  ])("%s", (_, files, note) => {
    expect(made(files).notes).toContain(note);
  });

  test("styles that Laravel takes from packages of PHP are there when the assets are built", () => {
    const files = {
      ...{ artisan: "", "composer.json": '{"require":{"laravel/framework":"12"}}', "public/index.php": "<?php" },
      ...{
        "package.json": '{"scripts":{"build":"vite build"}}',
        "package-lock.json": "{}",
        "app/A.php": "<?php class A {}",
      },
    };
    const css = "@import '../../vendor/livewire/flux/dist/flux.css';";
    const { dockerfile, notes } = made({ ...files, "resources/css/app.css": css });
    expect(dockerfile).toContain("COPY . .\nCOPY --from=vendor /src/vendor vendor/\nRUN npm ci");
    expect(made(files).dockerfile).not.toContain("AS vendor");
    expect(notes).toContain("no worker of Laravel's queue runs");
  });

  test("a script that watches is for developers, and Stencil makes pages", () => {
    const { port, dockerfile } = made({
      "package.json":
        '{"scripts":{"build":"stencil build","start":"stencil build --dev --watch --serve"},"dependencies":{"@stencil/core":"4"}}',
      "stencil.config.ts": "outputTargets: [{ type: 'www', dir: 'public' }]",
    });
    expect([port, dockerfile.includes("COPY --from=build /app/public ")]).toEqual([80, true]);
  });

  test("a database of Java in a file needs a volume", () => {
    const { notes } = made({
      "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId>",
      "src/main/resources/application.properties": "spring.datasource.url=jdbc:derby:sample;create=true",
    });
    expect(notes).toContain("needs a volume: a database in a file (src/main/resources/application.properties)");
  });

  test("a Ruby that is too old is said", () => {
    expect(made({ Gemfile: 'ruby "2.1.1"\ngem "puma"', "config.ru": "run A" }).notes).toContain("Ruby 2.1.1 is so old");
  });

  test("what Go packages need for themselves is not the app's", () => {
    const files = go("package main\nfunc main() { http.ListenAndServe(a, nil) }", {
      "go.mod": "module x\nrequire gorm.io/driver/mysql v1 // indirect\n",
    });
    expect(made(files).notes).not.toContain("MySQL");
  });

  test("Sinatra listens where its command says", () => {
    expect(made({ Gemfile: 'gem "sinatra"', "app.rb": "require 'sinatra'\nget('/') { 1 }" }).port).toBe(9292);
  });

  test("Nx starts what its build makes, and never its server for developers", () => {
    const packages =
      '{"scripts":{"start":"nx serve","build":"nx build"},"dependencies":{"express":"4"},"devDependencies":{"nx":"17"}}';
    const project =
      '{"targets":{"build":{"executor":"@nx/esbuild:esbuild","options":{"outputPath":"dist/api","main":"src/main.ts"}}}}';
    expect(made({ "package.json": packages, "project.json": project }).dockerfile).toContain(
      'CMD ["node","dist/api/main.js"]',
    );
    expect(problem({ "package.json": packages })).toContain("package.json is of an Nx workspace");
  });
});

describe("frameworks whose start is not that of a language", () => {
  const node = (packages: string, scripts = ""): Files => ({
    "package.json": `{"scripts":{${scripts}},"dependencies":{${packages}}}`,
  });
  test.each<[string, Files, string]>([
    [
      "AdonisJS",
      node('"@adonisjs/core":"^6.0"', '"start":"node bin/server.js","build":"node ace build"'),
      '"node","build/bin/server.js"',
    ],
    ["RedwoodJS", node('"@redwoodjs/core":"8"'), '"rw","serve","--port","3000"'],
    ["Fresh", { "deno.json": '{"imports":{"$fresh/":"x"}}', "main.ts": "start()" }, '"deno","run","-A","main.ts"'],
  ])("%s", (_, files, words) => {
    expect(made(files).dockerfile).toContain(words);
  });
  test("Meteor is built by hand", () => {
    expect(problem(node('"meteor-node-stubs":"1"', '"start":"meteor run"'))).toContain("package.json is of Meteor");
  });
});

describe("an app of its time", () => {
  test("Ruby is the one of the lock file, where the Gemfile allows it; its gems get their libraries", () => {
    const { dockerfile } = made({
      Gemfile: 'ruby ">=2.7.0"\nload "lib/helper.rb"\ngem "rails"',
      "Gemfile.lock":
        "    rails (6.1.7)\n    charlock_holmes (0.7)\n    mysql2 (0.5)\nRUBY VERSION\n   ruby 2.7.7p221\n",
      "config/application.rb": "Rails",
    });
    expect(dockerfile).toContain("ARG BASE=ruby:2.7.7-slim");
    expect(dockerfile).toContain("default-libmysqlclient-dev libicu-dev");
    expect(dockerfile).toContain("COPY . .\nRUN bundle config");
    expect(dockerfile).toContain("RUN SECRET_KEY_BASE=dummy bundle exec rails assets:precompile");
    expect(dockerfile).toContain("RUN (apt-get update || (sed -i -e 's/deb.debian.org/archive.debian.org/;");
  });
  test("a newer one takes its packages from the mirrors alone", () => {
    const { dockerfile } = made({ Gemfile: 'ruby "3.3.0"\ngem "puma"', "config.ru": "run A" });
    expect(dockerfile).toContain("RUN apt-get update && apt-get install");
  });
  test("PHP without a lock file gets what the packages that were found ask for", () => {
    const files = php("<?php", '{"require":{"a/b":"^1"}}');
    expect(made(files).dockerfile).toContain("composer check-platform-reqs --no-dev --format=json");
    expect(made({ ...files, "composer.lock": "{}" }).dockerfile).not.toContain("check-platform-reqs");
  });
});
