// biome-ignore-all lint/suspicious/noTemplateCurlyInString: sources hold such text
import { describe, expect, test } from "bun:test";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;
function made(files: Files) {
  const result = generateDockerfile(treeOf(files), {});
  if (!result.ok) throw new Error(result.problem);
  const { port, runtime, notes, dockerfile } = result.build;
  return { port, runtime, notes: notes.join("\n"), dockerfile };
}
const problemOf = (files: Files) => {
  const result = generateDockerfile(treeOf(files), {});
  return result.ok ? undefined : result.problem;
};
const startOf = (files: Files) => /^CMD (.*)$/m.exec(made(files).dockerfile)?.[1];

describe("scripts find the tools that they call", () => {
  const tools = (scripts: Record<string, string>, files: Files = {}) =>
    made({
      "package.json": JSON.stringify({ scripts, dependencies: { express: "4", typescript: "5" } }),
      "server.js": "app.listen(process.env.PORT)",
      ...files,
    });
  const npm = { "package-lock.json": "{}" };

  test("without a lock file, what they call installs", () => {
    const { dockerfile } = tools({ build: "pnpm -r build", start: "node server.js" });
    expect(dockerfile).toContain("RUN npm install -g pnpm@9\n");
    expect(dockerfile).toContain("RUN pnpm install\n");
    const chained = tools({ build: "npm run all", all: "tsc && pnpm copy", copy: "cp a b", start: "node server.js" });
    expect(chained.dockerfile).toContain("RUN pnpm install\n");
    expect(tools({ start: "bun server.ts" }, { "server.ts": "" }).runtime).toBe("bun");
    expect(tools({ start: "node server.js" }, { "pnpm-workspace.yaml": "packages:\n  - a\n" }).dockerfile).toContain(
      "RUN pnpm install\n",
    );
  });

  test("beside the lock file of another, they are installed too", () => {
    const { dockerfile } = tools({ build: "pnpm -r build", start: "node server.js" }, npm);
    expect(dockerfile).toContain("RUN npm install -g pnpm@9\n");
    expect(dockerfile).toContain("RUN npm ci\n");
    expect(tools({ start: "bun run server.js" }, npm).dockerfile).toContain("RUN npm install -g bun@1\n");
    expect(tools({ preinstall: "npx only-allow pnpm", start: "node server.js" }, npm).dockerfile).not.toContain(
      "pnpm@",
    );
  });

  test("a tool of the build that nothing brings is said", () => {
    const { notes } = tools({ build: "webpack --mode production", start: "node server.js" }, npm);
    expect(notes).toContain('"build" of package.json runs webpack, which no package of package.json brings');
    expect(tools({ build: "tsc && cp a b", start: "node server.js" }, npm).notes).not.toContain("brings");
  });
});

describe("the file that listens starts, and not the one that only exports the app", () => {
  const main = (files: Files) =>
    startOf({ "package.json": '{"main":"app.js","dependencies":{"express":"4"}}', ...files });
  const exported = "const app = express(); module.exports = app";
  test.each<[string, Files, string]>([
    ["beside it", { "app.js": exported, "server.js": "require('./app').listen(3000)" }, "server.js"],
    ["in bin", { "app.js": exported, "bin/www": "http.createServer(app).listen(port)" }, "bin/www"],
    ["in src", { "app.js": exported, "src/server.js": "require('../app').listen(3000)" }, "src/server.js"],
    ["main takes it in", { "app.js": "require('./server')", "server.js": "x.listen(1)" }, "app.js"],
    ["main listens", { "app.js": "app.listen(3000)", "server.js": "x.listen(1)" }, "app.js"],
    ["none shows it", { "app.js": exported, "server.js": "start()" }, "app.js"],
  ])("%s", (_name, files, file) => {
    expect(main(files)).toBe(`["node","${file}"]`);
  });
});

describe("a Python app gets the server of its own framework", () => {
  const both = { "requirements.txt": "fastapi\nflask\nuvicorn\n" };
  test.each<[string, Files, string]>([
    [
      "Flask's factory beside FastAPI's packages",
      { ...both, "shop/__init__.py": "from flask import Flask\ndef create_app():\n    return Flask(__name__)\n" },
      '["gunicorn","--bind","0.0.0.0:8000","shop:create_app()"]',
    ],
    [
      "Flask's app of a factory",
      { ...both, "run.py": "from shop import create_app\napp = create_app()\n", "shop/__init__.py": "import flask\n" },
      '["gunicorn","--bind","0.0.0.0:8000","run:app"]',
    ],
    [
      "FastAPI's factory beside Flask's packages",
      { ...both, "api/main.py": "from fastapi import FastAPI\ndef create_app():\n    return FastAPI()\n" },
      '["uvicorn","api.main:create_app","--factory","--host","0.0.0.0","--port","8000"]',
    ],
    [
      "Falcon",
      { "requirements.txt": "falcon\n", "app.py": "import falcon\napp = falcon.App()\n" },
      '["gunicorn","--bind","0.0.0.0:8000","app:app"]',
    ],
    [
      "Falcon of ASGI",
      { "requirements.txt": "falcon\n", "app.py": "import falcon.asgi\napp = falcon.asgi.App()\n" },
      '["uvicorn","app:app","--host","0.0.0.0","--port","8000"]',
    ],
  ])("%s", (_name, files, start) => {
    expect(startOf(files)).toBe(start);
  });
});

describe("settings without a value are said by the variables that set them", () => {
  const spring = (text: string, more: Files = {}): Files => ({
    "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId>",
    "src/main/java/App.java": text,
    ...more,
  });
  const yaml = "src/main/resources/application.yml";
  test.each<[string, Files, string]>([
    ["Spring with an empty default", spring("", { [yaml]: "jwt:\n  secret: ${JWT_SECRET:}\n" }), "JWT_SECRET"],
    ["Spring without a default", spring("", { [yaml]: "jwt:\n  secret: ${JWT_SECRET}\n" }), "JWT_SECRET"],
    ["Spring's code", spring('@Value("${jwt.secret-key}") String key;'), "JWT_SECRETKEY"],
    [
      ".NET",
      { "A.csproj": "Microsoft.NET.Sdk.Web", "Program.cs": 'var k = builder.Configuration["Jwt:Key"];' },
      "Jwt__Key",
    ],
  ])("%s", (_name, files, variable) => {
    expect(made(files).notes).toContain(`needs values: the sources read ${variable} and have no default`);
  });

  test.each<[string, Files]>([
    ["Spring with a default", spring("", { [yaml]: "jwt:\n  secret: ${JWT_SECRET:abc}\n" })],
    ["Spring's own setting", spring('@Value("${jwt.secret}") String key;', { [yaml]: "jwt:\n  secret: abc\n" })],
    ["Spring's code with a default", spring('@Value("${jwt.secret:abc}") String key;')],
    [
      ".NET with a setting",
      {
        "A.csproj": "Microsoft.NET.Sdk.Web",
        "Program.cs": 'var k = builder.Configuration["Jwt:Key"];',
        "appsettings.json": '{"Jwt":{"Key":"abc"}}',
      },
    ],
  ])("not %s", (_name, files) => {
    expect(made(files).notes).not.toContain("needs values");
  });
});

describe("what a program keeps in its own folder is said, with a place that it may write", () => {
  const python = (text: string): Files => ({
    "requirements.txt": "flask\n",
    "app.py": `from flask import Flask\napp = Flask(__name__)\n${text}`,
  });
  test("a database by a module of the language, and by a variable with a default", () => {
    const own = made(python("import sqlite3\nBASE = 'x'\ndb = sqlite3.connect(join(BASE, 'shop.db'))"));
    expect(own.notes).toContain("needs a volume: a database of SQLite (app.py)");
    expect(own.dockerfile).toContain("chown 1000:1000 /app\nUSER app");
    const told = made(python('path = os.getenv("DB_PATH", "./shop.db")'));
    expect(told.notes).toContain(
      'volumes: ["data:/data"] and volume_owner: "1000:1000", and DB_PATH: /data/shop.db in env',
    );
  });

  test("other files, which may not matter", () => {
    const { notes } = made(python('with open(USERS, "w") as f:\n    json.dump(x, f)'));
    expect(notes).toContain("what app.py writes is in the container");
    expect(notes).not.toContain("needs a volume");
  });

  test("a program alone in its image gets a folder", () => {
    const go = {
      "go.mod": "module x\nrequire gorm.io/driver/sqlite v1\n",
      "main.go": 'package main\nfunc main() { getEnv("DB_PATH", "./x.db"); http.ListenAndServe(getEnv("PORT", "1")) }',
    };
    expect(made(go).dockerfile).toContain("WORKDIR /srv\nUSER 65532");
    expect(made(go).notes).toContain("DB_PATH: /data/x.db in env");
  });
});

describe("tables that nothing makes", () => {
  const prisma = (files: Files) =>
    made({
      "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"express":"4","prisma":"6"}}',
      "a.js": "app.listen(process.env.PORT)",
      "prisma/schema.prisma": "",
      ...files,
    }).notes;
  test("Prisma without migrations, also in an image of Bun", () => {
    expect(prisma({})).toContain('release: { command: ["npx", "prisma", "db", "push"] }');
    expect(prisma({ "bun.lock": "" })).toContain('release: { command: ["bunx", "prisma", "db", "push"] }');
    expect(prisma({ "prisma/migrations/1/migration.sql": "" })).toContain("migrate");
  });
});

test("Deno of the time of the imports", () => {
  const base = (files: Files) =>
    /^ARG BASE=(.*)$/m.exec(made({ "main.ts": "", "deno.json": "{}", ...files }).dockerfile)?.[1];
  expect(base({ "deno.lock": '{\n  "version": "2"' })).toBe("denoland/deno:1.46.3");
  expect(base({ "import_map.json": '"https://deno.land/x/fresh@1.1.3/"' })).toBe("denoland/deno:1.46.3");
  expect(base({ "deno.lock": '{\n  "version": "4"' })).toBe("denoland/deno:latest");
});

test("the port of a README is not that of .NET, which the image tells", () => {
  const files = {
    "A.csproj": "Microsoft.NET.Sdk.Web",
    "Program.cs": "app.Run();",
    "README.md": "https://localhost:7209",
  };
  expect(made(files).port).toBe(8080);
});

test("a program of Gradle without a name in its settings starts, and closed repositories are said", () => {
  const { dockerfile, notes } = made({ "build.gradle": "apply plugin: 'application'\nrepositories { jcenter() }" });
  expect(dockerfile).toContain('CMD ["/app/bin/start"]');
  expect(notes).toContain("JCenter or Bintray, which are closed");
});

test("Quarkus reads its database from variables", () => {
  const { notes } = made({
    "pom.xml": "<artifactId>quarkus-maven-plugin</artifactId>",
    "src/main/resources/application.properties": "quarkus.datasource.jdbc.url=jdbc:mysql://localhost:3306/x\n",
  });
  expect(notes).toContain("set QUARKUS_DATASOURCE_JDBC_URL");
});

describe("pages for a path are served below it", () => {
  test.each<[string, string, Files]>([
    ["astro", "shop", { "astro.config.mjs": "export default {\n  base: 'shop',\n}" }],
    ["vite", "a/b", { "vite.config.ts": 'export default {\n  base: "/a/b/",\n}' }],
    ["vite", "shop", { "vite.config.ts": "{\n  base: env.MODE === 'production' ? '/shop/' : '/',\n}" }],
  ])("%s below /%s/", (tool, place, files) => {
    const { dockerfile, notes } = made({
      "package.json": JSON.stringify({ scripts: { build: `${tool} build` }, dependencies: { [tool]: "5" } }),
      "index.html": "",
      ...files,
    });
    expect(dockerfile).toContain(`/app/dist /usr/share/nginx/html/${place}\n`);
    expect(dockerfile).toContain(`return 302 /${place}/;`);
    expect(notes).toContain(`the pages are served below /${place}/`);
  });

  test("by homepage of Create React App, and not by a relative base", () => {
    const react = (homepage: string) =>
      made({ "package.json": JSON.stringify({ homepage, scripts: {}, dependencies: { "react-scripts": "5" } }) });
    expect(react("https://x.github.io/shop").dockerfile).toContain("/usr/share/nginx/html/shop\n");
    expect(react(".").dockerfile).toContain("/usr/share/nginx/html\n");
    expect(react("https://shop.example.com/").dockerfile).toContain("/usr/share/nginx/html\n");
  });
});

describe("what no server runs is a problem, and not a start that ends", () => {
  test("an app for phones, and not a server beside it", () => {
    const phone = { "build.gradle": "", "app/build.gradle": "plugins {\n id 'com.android.application'\n}" };
    expect(problemOf(phone)).toContain("an app for Android");
    expect(problemOf({ ...phone, "server/build.gradle": "plugins { id 'io.ktor.plugin' }" })).toBeUndefined();
  });

  test("a Worker of Cloudflare, and not one that also listens", () => {
    const worker = (text: string) => ({
      "package.json": '{"scripts":{"start":"wrangler dev"},"dependencies":{"hono":"4","wrangler":"3"}}',
      "wrangler.toml": 'main = "src/index.ts"\n',
      "src/index.ts": text,
    });
    expect(problemOf(worker("export default app"))).toContain("a Worker of Cloudflare");
    expect(problemOf(worker("serve({ fetch: app.fetch, port: 3000 })"))).toBeUndefined();
  });
});

describe("more of what the sources show", () => {
  const env = (text: string, more: Files = {}): string =>
    made({
      "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"express":"4"}}',
      "a.js": `app.listen(process.env.PORT)\n${text}`,
      ...more,
    }).notes;
  test("names of variables in an enum, and defaults for the whole program", () => {
    const keys = { "keys.ts": "export enum Keys {\n  DB_HOST = 'DB_HOST',\n  DB_NAME = 'DB_NAME',\n}" };
    expect(env("config.get(Keys.DB_HOST)", keys)).toContain("the sources read DB_HOST, DB_NAME and have no default");
    expect(env("", keys)).not.toContain("DB_NAME");
    expect(env('process.env.STAGE ||= "dev"; run(process.env.STAGE); config.get("A_B") ?? 1')).not.toContain(
      "needs values",
    );
  });

  test("Django collects its files with settings of any name and stand-ins for their values", () => {
    const files = {
      "manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')",
      "requirements.txt": "django\n",
      "shop/wsgi.py": "",
      "shop/settings/prod.py":
        'STATIC_ROOT = "s"\nKEY = env.str("SECRET_KEY")\nDB = env("DATABASE_URL")\nA = env("A", default=1)',
    };
    expect(made(files).notes).toContain("needs values: the sources read SECRET_KEY, DATABASE_URL");
    expect(made(files).dockerfile).toContain(
      "RUN SECRET_KEY=build DATABASE_URL=sqlite:///:memory: python manage.py collectstatic",
    );
  });

  test("files that PHP requires, and rules for another path", () => {
    const { notes } = made({
      "index.php":
        "<?php require_once('./lib/a.php'); require __DIR__ . '/settings.php'; require 'vendor/autoload.php';",
      "lib/a.php": "<?php",
      ".htaccess": "RewriteEngine On\nRewriteBase /shop/\n",
    });
    expect(notes).toContain("needs settings.php, as index.php shows");
    expect(notes).not.toContain("needs lib/a.php");
    expect(notes).toContain(".htaccess is written for the path /shop/");
  });

  test("Rails reads DATABASE_URL before its file, and Go's imports show services", () => {
    const rails = {
      Gemfile: 'gem "rails"\ngem "pg"',
      "config/application.rb": "require 'rails/all'",
      "config/database.yml": "default:\n  adapter: postgresql\n  host: localhost\n",
    };
    expect(made(rails).notes).toContain("needs DATABASE_URL in env, which Rails reads before config/database.yml");
    const go = {
      "go.mod": "module x\nrequire (\n\tgithub.com/redis/go-redis/v9 v9.1.0 // indirect\n)\n",
      "main.go":
        'package main\nimport (\n\t"github.com/redis/go-redis/v9"\n)\nfunc main() { http.ListenAndServe(":1", nil) }',
    };
    expect(made(go).notes).toContain("needs Redis");
  });
});

describe("a program writes where it may, and listens where its framework does", () => {
  test("what it writes in its folder is its user's", () => {
    const python = {
      "requirements.txt": "flask\n",
      "app.py": 'app = Flask(__name__)\nwith open(cache_path(), "w") as f: f.write(x)',
    };
    expect(made(python).dockerfile).toContain("COPY --chown=1000:1000 . .\n");
    const php = made({ "index.php": '<?php file_put_contents("book.json", $x);', "book.json": "[]" });
    expect(php.dockerfile).toContain("COPY --chown=33:33 . .\n");
    expect(made({ "index.php": "<?php echo 1;" }).dockerfile).toContain("\nCOPY . .\n");
  });

  test("a framework without a call that is known keeps its port", () => {
    const node = (start: string) => ({
      "package.json": JSON.stringify({
        scripts: { start },
        dependencies: { fastify: "5", "fastify-cli": "7", "@fastify/mongodb": "9" },
      }),
      "app.cjs": "module.exports = async (app) => { app.register(x) }",
    });
    expect(made(node("fastify start -a 0.0.0.0 app.cjs"))).toMatchObject({ port: 3000 });
    expect(made(node("fastify start app.cjs")).notes).not.toContain("nothing in the sources listens");
    expect(made(node("node app.cjs")).notes).toContain("do not show where the program listens, so 3000 is taken");
    expect(made(node("node app.cjs")).notes).toContain("needs MongoDB");
    const rocket = made({
      "Cargo.toml":
        '[package]\nname = "x"\n[dependencies]\nrocket = "0.5"\nrocket_db_pools = { version = "0.1", features = ["sqlx_postgres"] }\n',
      "src/main.rs": '#[database("blog")]\nstruct B(P);\n#[rocket::launch]\nfn rocket() -> _ { rocket::build() }',
    });
    expect(rocket.port).toBe(8080);
    expect(rocket.notes).toContain("needs PostgreSQL");
    expect(rocket.notes).toContain("the sources read ROCKET_DATABASES");
  });

  test("where Laravel and Spring find a database", () => {
    const laravel = (version: string, more: Files = {}) =>
      made({
        "composer.json": `{"require":{"laravel/framework":"${version}"}}`,
        artisan: "",
        "public/index.php": "<?php",
        ...more,
      }).notes;
    expect(laravel("^9.19")).toContain("DB_CONNECTION and DATABASE_URL");
    expect(laravel("^12.0")).toContain("DB_CONNECTION and DB_URL");
    expect(laravel("^9.19", { "config/database.php": "'url' => env('MY_URL')," })).toContain(
      "DB_CONNECTION and MY_URL",
    );
    const spring = made({
      "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId><artifactId>mysql-connector-j</artifactId>",
      "src/main/resources/application.properties": "spring.web.locale=x\n",
    });
    expect(spring.notes).toContain("as no settings say where MySQL or MariaDB is");
  });

  test("a factory two folders deep", () => {
    const files = {
      "requirements.txt": "flask\n",
      "app/main/app.py": "from flask import Flask\ndef create_app():\n    return Flask(__name__)",
    };
    expect(startOf(files)).toBe('["gunicorn","--bind","0.0.0.0:8000","app.main.app:create_app()"]');
  });
});

describe("what else a program finds only where it was written", () => {
  const node = (text: string, more: Files = {}) =>
    made({
      "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"express":"4"}}',
      "a.js": `app.listen(process.env.PORT)\n${text}`,
      ...more,
    }).notes;
  test("a default of this machine, an empty default and names of node-config", () => {
    expect(node('link(process.env.BASE_URL || "http://localhost:8080")')).toContain(
      "needs BASE_URL in env, as the default is http://localhost",
    );
    expect(node('link(process.env.BASE_URL || "https://shop.example.com")')).toBe(node(""));
    expect(node("sign(process.env.JWT_KEY || '')")).toContain("the sources read JWT_KEY and have no default");
    const config = { "config/custom-environment-variables.json": '{"jwtKey":"shop_key","port":"PORT2"}' };
    expect(node("", { ...config, "config/default.json": '{"jwtKey":"","port":1}' })).toContain(
      "the sources read shop_key and",
    );
  });

  test("Spring listens where its settings say, and its database may be in another network", () => {
    const { port, notes, dockerfile } = made({
      "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId><artifactId>postgresql</artifactId>",
      "src/main/resources/application.properties":
        "spring.datasource.url=jdbc:postgresql://192.168.0.111:5432/x\nserver.port=9091\n",
    });
    expect(port).toBe(9091);
    expect(dockerfile).toContain("SERVER_PORT=9091");
    expect(notes).toContain("names an address of another network; set SPRING_DATASOURCE_URL");
    const yaml = {
      "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId>",
      "src/main/resources/application.yml": "server:\n  port: 9092\n",
    };
    expect(made(yaml).port).toBe(9092);
    const open = { ...yaml, "src/main/resources/application.yml": "server:\n  port: ${PORT:9092}\n" };
    expect(made(open).port).toBe(8080);
  });

  test("a volume does not hide sources", () => {
    const rails = made({
      Gemfile: 'gem "rails"\ngem "sqlite3"',
      "config/application.rb": "require 'rails/all'",
      "config/database.yml":
        "default: &default\n  adapter: sqlite3\nproduction:\n  <<: *default\n  database: db/production.sqlite3\n",
      "db/schema.rb": "",
    });
    expect(rails.notes).toContain('volumes: ["data:/data"]');
    expect(rails.notes).toContain("DATABASE_URL: sqlite3:/data/production.sqlite3 in env");
    const own = (more: Files) => node('new Database("store/shop.db")', more);
    expect(own({ "store/.gitkeep": "" })).toContain('volumes: ["data:/app/store"]');
    expect(own({ "store/schema.js": "" })).toContain('volumes: ["data:/app/data"]');
  });

  test("a program whose packages no file names is not built", () => {
    const django = { "manage.py": "django", "shop/wsgi.py": "", "shop/settings.py": "" };
    expect(problemOf(django)).toContain("no file names the packages of the Python program");
  });

  test("the port of a database is asked for, and a key of its own for HTTPS is said", () => {
    const go = made({
      "go.mod": "module x\ngo 1.22\n",
      "main.go":
        'package main\nfunc main() { os.Getenv("DB_PORT"); os.Getenv("ADMIN_PORT"); http.ListenAndServeTLS(":8443", "a", "b", nil) }',
    });
    expect(go.notes).toContain("read DB_PORT and have no default");
    expect(go.notes).toContain("plain HTTP: main.go serves HTTPS");
    const spring = {
      "pom.xml": "<artifactId>spring-boot-maven-plugin</artifactId>",
      "src/main/resources/application.properties": "server.port=443\nserver.ssl.key-store=keystore.jks\n",
    };
    expect(made(spring).notes).toContain('env: { SERVER_SSL_ENABLED: "false" }');
    const schema =
      'const schema = {\n  properties: {\n    MONGO_URL: { type: "string" },\n    SALT: { type: "number", default: 3 },\n  },\n}';
    expect(node(schema)).toContain("read MONGO_URL and have no default");
    const sample = (text: string) => node(text, { ".env.example": "MONGO_URL=\nSALT=3\n" });
    expect(sample("connect(app.secrets.MONGO_URL, app.secrets.SALT)")).toContain("read MONGO_URL and have no default");
    expect(sample('connect(process.env.MONGO_URL ?? "x")')).not.toContain("MONGO_URL");
    expect(sample('set({ MONGO_URL: env.get("MONGO_URL", "x") }); connect(set.MONGO_URL)')).not.toContain("MONGO_URL");
    const tls = "https.createServer({ key }, app).listen(process.env.PORT);";
    expect(node(tls)).not.toContain("plain HTTP");
    expect(node("", { "a.js": tls })).toContain("plain HTTP: a.js");
  });

  test("links to this machine and addresses of other containers are said", () => {
    const links = (line: string) => node(`${line}\napp.listen(3000)`);
    expect(links('const all = "http://localhost:3000/api/all"')).toContain("its own address from a variable: a.js");
    expect(links('console.log("http://localhost:3000/api")')).not.toContain("its own address");
    expect(links('const other = "http://localhost:4000/api"')).not.toContain("its own address");
    const php = made({ "index.php": '<?php new PDO("mysql:host=shop-db;dbname=a");\n$_SERVER["REQUEST_URI"];' });
    expect(php.notes).toContain("index.php names another container by its name");
    expect(php.dockerfile).toContain("FallbackResource /index.php");
    expect(made({ "index.php": "<?php echo 1;" }).dockerfile).not.toContain("FallbackResource");
    expect(node("app.listen(3000)", { "readme.md": "CREATE TABLE a (b int)" })).toContain("readme.md has CREATE TABLE");
  });

  test("Flask-SocketIO has one worker of its own kind", () => {
    const start = (packages: string) =>
      startOf({
        "requirements.txt": `flask\nFlask-SocketIO\n${packages}\n`,
        "app.py": "from flask import Flask\napp = Flask(__name__)",
      });
    expect(start("eventlet>=0.33")).toContain('"--worker-class","eventlet","--workers","1","app:app"');
    expect(start("gevent-websocket")).toContain("GeventWebSocketWorker");
    expect(start("")).toContain('"--workers","1","--threads","100"');
  });

  test("gems of before Ruby 2.4 get the Ruby of their time", () => {
    const lock = (gem: string) =>
      made({ Gemfile: 'gem "sinatra"', "config.ru": "", "Gemfile.lock": `GEM\n  specs:\n    ${gem}\n` }).dockerfile;
    expect(lock("json (1.8.2)")).toContain("ruby:2.3-slim");
    expect(lock("activesupport (4.2.1)")).toContain("ruby:2.3-slim");
    expect(lock("json (1.8.6)\n    activesupport (4.2.11)")).not.toContain("ruby:2.3");
    expect(lock("activesupport (4.2.10)")).not.toContain("ruby:2.3");
  });
});
