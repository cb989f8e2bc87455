import { expect, test } from "bun:test";
import { generateDockerfile } from "../../../../../src/orchestration/core/build/generate.ts";
import { treeOf } from "../../../../support/source-tree.ts";

type Files = Record<string, string>;
function text(files: Files) {
  const result = generateDockerfile(treeOf(files), {});
  return result.ok ? `${result.build.dockerfile}\n${result.build.notes.join("\n")}` : result.problem;
}
const scripts = (all: Record<string, string>, more: object = {}) => JSON.stringify({ scripts: all, ...more });
const parts = {
  "client/package.json": "{}",
  "server/package.json": "{}",
  "server/package-lock.json": "{}",
  "server/a.js": "",
};

test("folders that the scripts of the root enter are installed, unless a script does it", () => {
  const files = {
    ...parts,
    "package.json": scripts({ build: "cd client && npm run build", start: "node server/a.js" }),
  };
  expect(text(files)).toContain("RUN cd client && npm install\nRUN cd server && npm ci\nRUN npm run build");
  const all = {
    build: "npm install --prefix client && npm run build --prefix client",
    start: "node server/a.js",
    postinstall: "cd server && npm ci",
  };
  expect(text({ ...parts, "package.json": scripts(all) })).not.toContain("RUN cd ");
});

test("what Heroku builds with is what builds", () => {
  const files = {
    ...parts,
    "package.json": scripts({ build: "x", "heroku-postbuild": "y", start: "node server/a.js" }),
  };
  expect(text(files)).toContain("RUN npm run heroku-postbuild");
  const yaml = "services:\n  - type: web\n    runtime: node\n    buildCommand: npm ci && npm run bundle\n";
  const hinted = {
    ...parts,
    "package.json": scripts({ build: "x", bundle: "y", start: "node server/a.js" }),
    "render.yaml": yaml,
  };
  expect(text(hinted)).toContain("RUN npm run bundle");
});

test("a start file that does not exist is built by tsc, replaced, or an error", () => {
  const start = { start: "node dist/index.js" };
  expect(text({ "package.json": scripts(start) })).toContain("dist/index.js, which does not exist");
  expect(text({ "package.json": scripts(start), "server.js": "" })).toContain('CMD ["node","server.js"]');
  const typescript = {
    "package.json": scripts(start, { devDependencies: { typescript: "5" } }),
    "tsconfig.json": "{}",
  };
  expect(text(typescript)).toContain("RUN npx tsc");
  expect(text({ "package.json": scripts({ ...start, build: "tsc" }) })).toContain('CMD ["npm","run","start"]');
});

test.each([
  ["nuxt generate", { nuxt: "3" }, { build: "nuxt generate" }, {}, "/app/.output/public"],
  [
    "vite with a root",
    { vite: "5" },
    {},
    { "vite.config.js": "export default {\n  root: 'src',\n  build: { outDir: '../public' },\n}" },
    "/app/public ",
  ],
  ["vite by a flag", { vite: "5" }, { build: "vite build --outDir www" }, {}, "/app/www "],
  ["webpack", { webpack: "5" }, { build: "webpack" }, { "src/index.js": "" }, "/app/dist "],
  [
    "react router without a server",
    { "@react-router/serve": "7" },
    { build: "x" },
    { "react-router.config.ts": "export default { ssr: false }" },
    "/app/build/client ",
  ],
])("%s serves pages", (_, dependencies, all, files: Files, folder) => {
  expect(text({ "package.json": scripts(all, { dependencies }), ...files })).toContain(`COPY --from=build ${folder}`);
});

test.each([
  ["23.x", "23"],
  [">=18 <19", "18"],
  ["^20.10.0 || >=22", "24"],
])("engines %p is Node %p", (node, version) => {
  expect(text({ "package.json": scripts({}, { engines: { node } }), "index.js": "" })).toContain(
    `node:${version}-slim`,
  );
});

test("an app for phones, and Astro on a server of nobody, are errors that say what to do", () => {
  expect(text({ "package.json": scripts({}, { dependencies: { expo: "50" } }) })).toContain("an app for phones");
  const astro = {
    "package.json": scripts({}, { dependencies: { astro: "4" } }),
    "astro.config.mjs": 'output: "server"',
  };
  expect(text(astro)).toContain("@astrojs/node");
});

test("requirements that were made on Windows are read", () => {
  const flask = { "app.py": "app = Flask(__name__)\n" };
  for (const made of ["flask\r\n", "flask # web\n", "f\0l\0a\0s\0k\0\n\0"])
    expect(text({ ...flask, "requirements.txt": made })).toContain('"gunicorn"');
});
