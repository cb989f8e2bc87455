import { expect, test } from "bun:test";
import { basename } from "node:path";
import { type Call, cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

/** Builds whatever is asked for, and takes every apply. */
function server({ method, path, query, body }: Call): unknown {
  if (path === "/builds") return { build: { image: "built", status: "succeeded" }, reused: true };
  if (method === "POST" && path === "/apply") {
    const applied = query.dry_run === undefined ? [] : body;
    return { applied, pruned: [], current: (applied as unknown[]).map(() => null), warnings: [] };
  }
  return [];
}

const planned = (calls: Call[]) =>
  calls.find(({ query }) => query.dry_run === "true")?.body as Record<string, unknown>[];
const names = (calls: Call[]) => planned(calls).map(({ kind, scope, name }) => `${kind} ${scope}/${name}`);
const source = {
  "package.json": "{}",
  "server.js": "",
  Procfile: "web: node server.js\nworker: node worker.js\nrelease: node migrate.js\n",
};

test("a folder without manifests: web has the port and the domain, other processes have neither", async () => {
  using at = folder(source);
  const flags = ["--name", "shop/web", "--host", "Shop.Example.com", "-y", "--no-wait"];
  const { err, calls } = await cli(["up", ...flags], { cwd: at.path, server });
  expect(err).toContain("no manifests here: shop/web from node (package.json), Procfile (web, worker, release)");
  const [web, worker, ...more] = planned(calls);
  expect(web).toMatchObject({
    kind: "app",
    scope: "shop",
    name: "web",
    spec: {
      command: ["sh", "-c", "exec node server.js"],
      release: { command: ["sh", "-c", "exec node migrate.js"] },
      ports: ["3000"],
      env: { PORT: "3000" },
      host: "shop.example.com",
    },
  });
  expect(worker).toMatchObject({ kind: "deployment", scope: "shop", name: "worker" });
  expect(Object.keys(worker?.spec as object)).toEqual(["build", "command", "replicas", "env_from"]);
  expect(more).toEqual([]);
});

test("the scope is the name of the folder where no flag says another", async () => {
  using at = folder({ "package.json": "{}", "server.js": "" });
  const { calls } = await cli(["up", "-y", "--no-wait"], { cwd: at.path, server });
  expect(names(calls)).toEqual([`app ${basename(at.path).toLowerCase()}/web`]);
});

test("-f names another Procfile, and a port that nothing shows is 8080", async () => {
  using at = folder({ Dockerfile: "FROM x\n", "Procfile.dev": "web: run\n", Procfile: "other: run\n" });
  const flags = ["-f", "Procfile.dev", "--name", "shop/web", "-y", "--no-wait"];
  const { calls } = await cli(["up", ...flags], { cwd: at.path, server });
  expect(planned(calls)).toMatchObject([{ kind: "app", spec: { ports: ["8080"], env: { PORT: "8080" } } }]);
});

test("manifests win over source, and then they say the name", async () => {
  using at = folder({ ...source, "berth.yaml": "kind: deployment\nscope: a\nname: b\nspec: { image: x }\n" });
  expect(names((await cli(["up", "-y", "--no-wait"], { cwd: at.path, server })).calls)).toEqual(["deployment a/b"]);
  const { code, err } = await cli(["up", "--name", "c/d"], { cwd: at.path, server });
  expect([code, err]).toEqual([2, "error: --name: berth.yaml says it; change it there\n"]);
});

test("a folder of another client's settings alone is no folder of manifests: the Procfile says what runs", async () => {
  using at = folder({ ...source, ".voodu/app.json": '{"scope": "shop"}' });
  const { calls } = await cli(["up", "--name", "shop/web", "-y", "--no-wait"], { cwd: at.path, server });
  expect(names(calls)).toEqual(["app shop/web", "deployment shop/worker"]);
});

test.each([
  [{}, ["up"], 1, "no manifests here, and nothing to make them from: the folder has no Dockerfile"],
  [{ ...source, Procfile: "# none\n" }, ["up"], 1, "Procfile names no process"],
  [source, ["up", "-f", "Procfile.x"], 2, '"Procfile.x" does not exist'],
  [source, ["up", "-f", "Procfile", "-f", "b.yaml"], 2, "a Procfile is used by itself"],
  [source, ["up", "--name", "shop"], 2, '"shop" is not SCOPE/NAME'],
  [source, ["up", "--host", "a b"], 2, '"a b" is not a domain'],
])("%j %j is refused, and asks the server nothing", async (files, argv, code, text) => {
  using at = folder(files as Record<string, string>);
  const refused = await cli(argv, { cwd: at.path, server });
  expect([refused.code, refused.err, refused.calls]).toEqual([code, expect.stringContaining(text), []]);
});

test("--pushed deploys one scope without a question, all or nothing", async () => {
  using at = folder({ ...source, "berth.yaml": "kind: deployment\nscope: shop\nname: b\nspec: { image: x }\n" });
  const { code, calls } = await cli(["up", "--pushed", "shop", "--no-wait"], {
    cwd: at.path,
    server,
    autoApprove: false,
  });
  const stored = calls.find(({ path, query }) => path === "/apply" && query.dry_run === undefined);
  expect([code, stored?.query.atomic]).toEqual([0, "true"]);
  using bare = folder(source);
  const made = await cli(["up", "--pushed", "shop/api", "--no-wait"], { cwd: bare.path, server });
  expect(names(made.calls)).toEqual(["app shop/api", "deployment shop/api-worker"]);
});

test("--pushed with a block of a plugin takes each resource by itself", async () => {
  using at = folder({ "berth.yaml": "kind: postgres\nscope: shop\nname: db\nspec: {}\n" });
  const { calls } = await cli(["up", "--pushed", "shop", "--no-wait"], { cwd: at.path, server });
  expect(calls.find(({ query }) => query.dry_run === undefined)?.query.atomic).toBeUndefined();
});

const pushedManifest = (spec: string, scope = "shop") => `kind: deployment\nscope: ${scope}\nname: b\nspec: ${spec}\n`;
test.each([
  ["{ image: x }", "other", 'berth.yaml:1:7: a push to shop deploys the scope "shop" alone, and this is of "other"'],
  ["{ image: x, env_file: /etc/hostname }", "shop", '"/etc/hostname" leads out of the folder that is deployed'],
  ["{ image: x, env_file: ../secret }", "shop", '"../secret" leads out of the folder that is deployed'],
  ["{ image: x, env: { A: !file /etc/hostname } }", "shop", "!file"],
  ["{ build: { context: .. } }", "shop", '".." leads out of the folder that is deployed'],
  ["{ build: { dockerfile: ../../Dockerfile } }", "shop", '"../../Dockerfile" leads out'],
  ["{ build: { path: ../x } }", "shop", '"../x" leads out of the folder that is deployed'],
])("--pushed refuses %s of %s", async (spec, scope, text) => {
  using at = folder({ "package.json": "{}", "server.js": "", "berth.yaml": pushedManifest(spec, scope) });
  const { code, err, calls } = await cli(["up", "--pushed", "shop"], { cwd: at.path, server });
  expect([code, err, calls]).toEqual([1, expect.stringContaining(text), []]);
});

test("an app without a domain says how to give it one, and how to open it without", async () => {
  using at = folder(source);
  const up = (...flags: string[]) =>
    cli(["up", "--name", "shop/web", "-y", "--no-wait", ...flags], { cwd: at.path, server });
  const way =
    "shop/web has no domain: set host in its manifest, or open it from here: berth port-forward shop/web 3000";
  expect((await up()).err).toContain(`${way}\n`);
  expect((await up()).err).not.toContain("shop/worker has no domain");
  expect((await up("--dry-run")).err).not.toContain("has no domain");
});

test("prints the addresses with the port where visitors need it", async () => {
  const spec = { host: "shop.example.com", tls: {} };
  const stored = (scope: string) => ({ kind: "ingress", scope, name: "web", spec });
  const listen = { http: ["[::]:8080"], https: ["[::]:8443"] };
  using at = folder(source);
  const { code, out } = await cli(["up", "--name", "shop/web", "-y", "--no-wait"], {
    cwd: at.path,
    server: (call) => {
      if (call.path === "/ingress") return { proxy: { state: "running", listen }, sites: [] };
      return call.query.kind === "ingress" ? [stored("shop"), stored("other")] : server(call);
    },
  });
  expect([code, out.split("\n").filter((line) => line.includes("://"))]).toEqual([
    0,
    ["https://shop.example.com:8443"],
  ]);
});

test("a folder that is named is deployed as if the command ran there", async () => {
  using at = folder({
    "api/package.json": "{}",
    "api/server.js": "",
    "web/berth.yaml": "kind: deployment\nscope: s\nname: w\nspec: {image: x}\n",
  });
  expect(names((await cli(["up", "./api", "-y", "--no-wait"], { cwd: at.path, server })).calls)).toEqual([
    "app api/web",
  ]);
  expect(names((await cli(["up", "web", "-y", "--no-wait"], { cwd: at.path, server })).calls)).toEqual([
    "deployment s/w",
  ]);
});

test.each([
  [["up", "gone"], '"gone" is not a folder here'],
  [["up", "api", "web"], "up takes one folder"],
  [["up", "api/package.json"], "files need -f"],
])("%j is refused", async (words, text) => {
  using at = folder({ "api/package.json": "{}", "api/server.js": "" });
  const { err, code, calls } = await cli(words, { cwd: at.path, server });
  expect([code, err, calls]).toEqual([2, expect.stringContaining(text), []]);
});

test("a folder without an app names the sub-folders that have one", async () => {
  using at = folder({
    "api/go.mod": "module a",
    "services/shop/package.json": "{}",
    "services/shop/server.js": "",
    "docs/a.txt": "",
    "node_modules/x/package.json": "{}",
  });
  const { err, code } = await cli(["up", "-y"], { cwd: at.path, server });
  expect(code).toBe(1);
  expect(err).toContain("apps in sub-folders: api (go), services/shop (node); deploy one with berth up ./FOLDER");
});
