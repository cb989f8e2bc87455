// biome-ignore-all lint/suspicious/noTemplateCurlyInString: commands hold such text
import { expect, test } from "bun:test";
import { treeOf } from "../../../support/source-tree.ts";
import { firstManifest } from "../../../../src/client/init/manifest.ts";
import { lookAround } from "../../../../src/client/init/nested.ts";
import { generateDockerfile } from "../../../../src/orchestration/core/build/generate.ts";

type Files = Record<string, string>;
function found(files: Files) {
  const look = lookAround(treeOf(files));
  if (!look.ok) throw new Error(look.problem);
  return look.findings;
}
const problem = (files: Files) => {
  const look = lookAround(treeOf(files));
  return look.ok ? "" : look.problem;
};
const manifest = (files: Files) => {
  const findings = found(files);
  const choices = { scope: "s", name: "web", host: undefined, port: findings.port, image: undefined };
  return firstManifest(choices, findings);
};
const dockerfile = (files: Files) => {
  const made = generateDockerfile(treeOf(files), {});
  return made.ok ? made.build.dockerfile : made.problem;
};
const server = { "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"express":"*"}}', "a.js": "" };
const render = (text: string) => `services:\n  - type: web\n    name: x\n    runtime: node\n${text}`;

test("start, health check, release and variables of render.yaml stand in the manifest, and it says so", () => {
  const more =
    "    startCommand: node a.js --fast\n    healthCheckPath: /up\n    preDeployCommand: node m.js\n    envVars:\n      - { key: MODE, value: $live }\n      - { key: API_KEY, value: abc }\n      - { key: NODE_VERSION, value: 20.1.0 }\n";
  const text = manifest({ ...server, "m.js": "", "render.yaml": render(more) });
  expect(text).toContain("# Taken from render.yaml: the start command, the release step, the health check, variables");
  expect(text).toContain('# web of render.yaml\n  command: ["sh", "-c", "exec node a.js --fast"]');
  expect(text).toContain('release: { command: ["sh", "-c", "exec node m.js"] }');
  expect(text).toContain('readiness: { http_get: { path: "/up", port: 3000 } }');
  expect(text).toContain('    PORT: "3000"\n');
  expect(text).toContain('    MODE: "$$live"');
  expect(text).toContain("# render.yaml names API_KEY.");
  expect(text).not.toContain("abc");
  expect(dockerfile({ ...server, "render.yaml": render(more) })).toContain("ARG BASE=node:20-slim");
});

test("the port of fly.toml holds where the program asks for its port, and not where the image fixes it", () => {
  const fly = { "fly.toml": "[http_service]\ninternal_port = 9000\n" };
  expect(found({ ...server, ...fly }).port).toBe(9000);
  expect(manifest({ ...server, ...fly })).toContain('PORT: "9000"');
  const django = { "manage.py": "", "shop/wsgi.py": "", "requirements.txt": "django\n" };
  expect(found({ ...django, ...fly }).port).toBe(8000);
  expect(found({ Dockerfile: "FROM x\nEXPOSE 80\n", ...fly }).port).toBe(80);
  expect(found({ Dockerfile: "FROM x\n", ...fly }).port).toBe(9000);
});

test("a start command that names what is not there is left out, and an error where nothing else starts", () => {
  const flask = { "requirements.txt": "flask\n", "app.py": "app = Flask(__name__)\n" };
  const gone = { "render.yaml": render("    startCommand: gunicorn old.wsgi\n") };
  const look = found({ ...flask, ...gone });
  expect([look.processes, look.notes.join()]).toEqual([[], expect.stringContaining("old.wsgi does not exist")]);
  expect(problem({ "requirements.txt": "x\n", ...gone })).toContain('"gunicorn old.wsgi") starts old.wsgi');
});

test("a server for developers is never what starts", () => {
  const django = { "manage.py": "", "shop/wsgi.py": "", "requirements.txt": "django\n" };
  const look = found({ ...django, Procfile: "web: python manage.py runserver 0.0.0.0:$PORT\n" });
  expect([look.processes, look.notes.join()]).toEqual([
    [],
    expect.stringContaining("shop.wsgi:application is started"),
  ]);
  const pages = {
    "package.json": '{"scripts":{"start":"react-scripts start","build":"x"},"dependencies":{"react-scripts":"5"}}',
  };
  const served = found({ ...pages, Procfile: "web: npm start\n" });
  expect([served.port, served.processes]).toEqual([80, []]);
  expect(served.notes.join()).toContain("starts nginx with the pages");
});

test("a folder that another platform builds is the app's: by itself, or of a workspace", () => {
  const yaml = render("    rootDir: api\n    startCommand: npm start\n");
  const api = {
    "api/package.json": '{"scripts":{"start":"node a.js"}}',
    "api/a.js": "",
    "web/package.json": '{"scripts":{"start":"node a.js"}}',
    "web/a.js": "",
  };
  expect(manifest({ ...api, "render.yaml": yaml })).toContain("build: { context: api }");
  const whole = { "package.json": '{"workspaces":["*"]}' };
  expect(manifest({ ...api, ...whole, "render.yaml": yaml })).toContain("build: { path: api }");
});

test("the only app below a folder is taken, and of several each is named", () => {
  const one = { "README.md": "", "src/shop/requirements.txt": "flask\n", "src/shop/app.py": "app = Flask(__name__)\n" };
  expect(manifest(one)).toContain("build: { context: src/shop }");
  expect(found(one).notes[0]).toContain("the app is in src/shop");
  const two = { ...one, "front/index.html": "" };
  expect(problem(two)).toContain("several apps: front (static), src/shop (python)");
});

test("a bot has no port to wait for", () => {
  const bot = { "package.json": '{"scripts":{"start":"node a.js"},"dependencies":{"discord.js":"14"}}', "a.js": "" };
  expect([found(bot).port, found(bot).notes.join()]).toEqual([undefined, expect.stringContaining("listens nowhere")]);
  expect(found({ "requirements.txt": "aiogram\n", "bot.py": "" }).port).toBeUndefined();
  expect(found({ "requirements.txt": "aiogram\naiohttp\n", "bot.py": "" }).port).toBe(8000);
});

test("formation and healthchecks of app.json become replicas and the readiness probe", () => {
  const text = manifest({
    ...server,
    Procfile: "web: node a.js\nworker: node a.js w\n",
    "app.json":
      '{"formation":{"web":{"quantity":2},"worker":{"quantity":0}},"healthchecks":{"web":[{"type":"startup","path":"/up"}]}}',
  });
  expect(text).toContain("replicas: 2\n");
  expect(text).toContain("replicas: 0\n");
  expect(text).toContain('http_get: { path: "/up"');
  expect(text).toContain("# Taken from app.json: the health check, replicas");
});
