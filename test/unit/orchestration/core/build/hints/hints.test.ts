// biome-ignore-all lint/suspicious/noTemplateCurlyInString: commands hold such text
import { expect, test } from "bun:test";
import {
  lastCommand,
  missingIn,
  portIn,
  servesDevelopers,
} from "../../../../../../src/orchestration/core/build/hints/commands.ts";
import { hintedVersion, readHints } from "../../../../../../src/orchestration/core/build/hints/hints.ts";
import { treeOf } from "../../../../../support/source-tree.ts";

const renderYaml = `services:
  - type: web
    name: shop
    runtime: python
    rootDir: ./shop/
    buildCommand: pip install -r needs.txt
    startCommand: gunicorn shop.wsgi
    preDeployCommand: python manage.py migrate
    healthCheckPath: /up
    envVars:
      - { key: PYTHON_VERSION, value: 3.11.9 }
      - { key: SECRET_KEY, generateValue: true }
  - { type: worker, name: mails, runtime: python, rootDir: shop, startCommand: celery -A shop worker }
  - { type: cron, name: night, runtime: python, startCommand: ./night.sh }
databases:
  - name: db
`;

test("render.yaml: the first service, its workers, and what is left out", () => {
  const hints = readHints(treeOf({ "render.yaml": renderYaml }));
  expect(hints.processes.map(({ type, command, from }) => [type, command, from])).toEqual([
    ["web", "gunicorn shop.wsgi", "render.yaml"],
    ["worker", "celery -A shop worker", "render.yaml"],
    ["release", "python manage.py migrate", "render.yaml"],
  ]);
  expect(hints).toMatchObject({
    health: { value: "/up" },
    folder: { value: "shop" },
    notes: [expect.stringContaining("cron night")],
  });
  expect(hints.env?.value).toEqual({ PYTHON_VERSION: "3.11.9", SECRET_KEY: undefined });
});

test("fly.toml: the process that a service names answers requests", () => {
  const text = `[env]\nLOG = "info"\n[processes]\njobs = "bin/jobs"\nsite = "bin/site"\n[deploy]\nrelease_command = "bin/migrate"\n[http_service]\ninternal_port = 9000\nprocesses = ["site"]\n[[http_service.checks]]\npath = "/ok"\n`;
  const hints = readHints(treeOf({ "fly.toml": text }));
  expect(hints.processes.map(({ type, command }) => [type, command])).toEqual([
    ["jobs", "bin/jobs"],
    ["web", "bin/site"],
    ["release", "bin/migrate"],
  ]);
  expect(hints).toMatchObject({ port: { value: 9000 }, health: { value: "/ok" }, env: { value: { LOG: "info" } } });
});

test.each([
  ["railway.json", '{"deploy":{"startCommand":"a","preDeployCommand":["b"],"healthcheckPath":"/h"}}', ["a", "b"], "/h"],
  ["railway.toml", '[deploy]\nstartCommand = "a"\nhealthcheckPath = "/h"\n', ["a"], "/h"],
  ["nixpacks.toml", '[start]\ncmd = "a"\n', ["a"], undefined],
  ["nixpacks.toml", '[phases.start]\ncmd = "a"\n', ["a"], undefined],
  ["app.json", '{"scripts":{"dokku":{"predeploy":"a"}},"env":{"A":{"value":"1"}}}', ["a"], undefined],
  ["app.json", '{"expo":{"name":"x"},"scripts":{"dokku":{"predeploy":"a"}}}', [], undefined],
  ["render.yaml", " - no: [list", [], undefined],
  ["fly.toml", "= nothing", [], undefined],
])("%s with %p", (file, text, commands, health) => {
  const hints = readHints(treeOf({ [file]: text }));
  expect([hints.processes.map(({ command }) => command), hints.health?.value]).toEqual([commands, health]);
});

test("a Procfile comes first; only a release step is added by another file", () => {
  const files = {
    Procfile: "web: node a.js\n",
    "fly.toml": '[processes]\nweb = "x"\njobs = "y"\n[deploy]\nrelease_command = "r"\n',
  };
  const both = readHints(treeOf(files));
  expect(both.processes.map(({ type, from }) => `${type} ${from}`)).toEqual(["web Procfile", "release fly.toml"]);
  expect(readHints(treeOf({ "render.yaml": renderYaml }), "Dockerfile").processes).toEqual([]);
});

test("versions that a platform is told in a variable", () => {
  const tree = treeOf({ "nixpacks.toml": '[variables]\nNODE_VERSION = "v20.1"\nA = "latest"\n' });
  expect([hintedVersion(tree, "NODE_VERSION"), hintedVersion(tree, "A", "B")]).toEqual(["20.1", undefined]);
});

test.each([
  ["cd api && exec node a.js", "api/", ["node", "a.js"]],
  ["A=1 B=2 bundle exec puma -p 1", "", ["puma", "-p", "1"]],
  ["x; poetry run gunicorn a:b", "", ["gunicorn", "a:b"]],
])("the last command of %p", (line, folder, words) => expect(lastCommand(line)).toEqual({ folder, words }));

test.each([
  ["uvicorn a:b --host 0.0.0.0 --port 10000", 10_000],
  ["streamlit run a.py --server.port=8501", 8501],
  ["gunicorn -b 0.0.0.0:5000 a:b", 5000],
  ["gunicorn --bind :5000 a:b", 5000],
  ["uvicorn a:b --port $PORT", undefined],
  ["gunicorn -w 4 a:b", undefined],
])("the port of %p is %p", (line, port) => expect(portIn(line)).toBe(port as number));

test.each([
  ["python manage.py runserver 0.0.0.0:$PORT", true],
  ["flask --app shop run", true],
  ["uvicorn a:b --reload", true],
  ["php artisan serve --host=0.0.0.0", true],
  ["npm start", true],
  ["npm run prod", false],
  ["gunicorn shop.wsgi", false],
])("%p is for developers: %p", (line, is) => {
  const scripts = { start: "react-scripts start" };
  expect(servesDevelopers(line, treeOf({ "package.json": JSON.stringify({ scripts }) }))).toBe(is);
});

const tree = treeOf({
  "package.json": '{"scripts":{"serve":"x"}}',
  "shop/wsgi.py": "",
  "src/app/__init__.py": "",
  "api/main.py": "",
  "run.py": "",
});
test.each([
  ["gunicorn shop.wsgi", undefined],
  ["gunicorn --workers 4 other.wsgi:application", "other.wsgi"],
  ["gunicorn app:create_app()", undefined],
  ["uvicorn main:app --port 80", "main"],
  ["uvicorn main:app --app-dir api", undefined],
  ["cd api && uvicorn main:app", undefined],
  ["cd gone && uvicorn main:app", "gone/"],
  ["python run.py", undefined],
  ["python3 -u gone.py", "gone.py"],
  ["node dist/index.js", undefined],
  ["npm run serve", undefined],
  ["npm run gone", 'script "gone" of package.json'],
  ["bin/anything", undefined],
])("what %p misses is %p", (line, missing) => expect(missingIn(line, tree)).toBe(missing as string));

test("add-ons and schedules of app.json are named with what takes their place", () => {
  const addons = ["heroku-postgresql:mini", { plan: "heroku-redis" }, "papertrail"];
  const cron = [{ command: "bin/clean", schedule: "@daily" }, {}];
  const { notes } = readHints(treeOf({ "app.json": JSON.stringify({ addons, cron }) }));
  expect(notes).toEqual([
    "app.json asks for the add-on heroku-postgresql; for a database with its URL in the config, write kind: postgres with links",
    "app.json asks for the add-on heroku-redis; for a database with its URL in the config, write kind: redis with links",
    "app.json asks for the add-on papertrail; berth has no counterpart: set the variables of one that you run or rent",
    'app.json runs "bin/clean" on a schedule; to do the same, write a cronjob',
  ]);
});
