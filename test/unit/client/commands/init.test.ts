import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const node = { "app/package.json": "{}", "app/server.js": "" };
const manifest = (path: string) => readFileSync(join(path, "berth.yaml"), "utf8");

test("takes the folder's name where nobody can be asked, and calls no server", async () => {
  using at = folder({ "My App/package.json": "{}", "My App/server.js": "" });
  const { out, err, code, calls } = await cli(["init", "My App"], { cwd: at.path });
  expect([err, code, calls]).toEqual(["", 0, []]);
  expect(out).toBe(
    "wrote My App/berth.yaml: my-app/web from node (package.json); port 3000\nnothing was built or started yet; next: berth up -f My App/berth.yaml\n",
  );
  expect(manifest(join(at.path, "My App"))).toContain("scope: my-app\nname: web\n");
});

test("asks for the name and the domain", async () => {
  using at = folder(node);
  const cwd = join(at.path, "app");
  const { out, err } = await cli(["init"], { cwd, typed: ["shop/front", "Shop.Example.com"] });
  expect(err).toBe("found node (package.json)\nName, as SCOPE/NAME [app/web]: Domain, empty for none: ");
  expect(out).toBe(
    "wrote berth.yaml: shop/front from node (package.json); port 3000, shop.example.com\nnothing was built or started yet; next: berth up\n",
  );
  expect(manifest(cwd)).toContain("  host: shop.example.com\n  tls: {}\n");
});

test("asks for the port only where nothing shows it", async () => {
  using at = folder({ Dockerfile: "FROM x\n" });
  const { err } = await cli(["init", "--name", "shop/web"], { cwd: at.path, typed: ["8080", ""] });
  expect(err).toBe("found Dockerfile\nPort, empty for none: Domain, empty for none: ");
  expect(manifest(at.path)).toContain('ports: ["8080"]');
});

test("flags answer, and -y asks nothing", async () => {
  using at = folder(node);
  const flags = ["--name", "shop/api", "--host", "api.example.com", "--port", "9000", "--image", "shop/api:1", "-y"];
  const { out, err } = await cli(["init", "app", ...flags, "-o", "json"], { cwd: at.path, typed: [] });
  expect(err).toBe("");
  expect(JSON.parse(out).data).toEqual({
    file: "app/berth.yaml",
    kind: "app",
    scope: "shop",
    name: "api",
    host: "api.example.com",
    port: 9000,
  });
  expect(manifest(join(at.path, "app"))).toContain("image: shop/api:1");
});

test.each([["berth.yaml"], ["berth.hcl"], ["berth.voodu"], [".berth/web.yaml"], [".voodu/web.vd"]])(
  "leaves %s alone without a yes",
  async (there) => {
    using at = folder({ "package.json": "{}", "server.js": "", [there]: "mine" });
    const refused = await cli(["init"], { cwd: at.path });
    expect(refused.code).toBe(5);
    const no = await cli(["init", "--name", "a/b"], { cwd: at.path, typed: ["", "n"] });
    expect(no.code).toBe(5);
    expect(readFileSync(join(at.path, there), "utf8")).toBe("mine");
    expect(there === "berth.yaml" || !existsSync(join(at.path, "berth.yaml"))).toBe(true);
    expect((await cli(["init", "-y"], { cwd: at.path })).code).toBe(0);
    expect(manifest(at.path)).toContain("kind: app");
  },
);

test("a folder that cannot be built takes an image", async () => {
  using at = folder({ "notes.txt": "" });
  const { code, err } = await cli(["init"], { cwd: at.path });
  expect([code, err]).toEqual([1, expect.stringContaining("or name an image with --image")]);
  expect((await cli(["init", "--image", "nginx:1.27", "--port", "80"], { cwd: at.path })).code).toBe(0);
});

test.each([
  [["init", "none"], 1, '"none" is not a folder'],
  [["init", ".", "more"], 2, '"more" is one word too many'],
  [["init", "--name", "web"], 2, '"web" is not SCOPE/NAME'],
  [["init", "--name", "Shop/web"], 2, 'scope: "Shop" is not a scope'],
  [["init", "--host", "*.example.com"], 2, '"*.example.com" is not a domain'],
  [["init", "--host", "http://x"], 2, '"http://x" is not a domain'],
  [["init", "--image", "No Image"], 2, '"No Image" is not an image'],
  [["init", "--port", "0"], 2, '"0" is not a port'],
])("%p is refused, and nothing is written", async (argv, code, text) => {
  using at = folder({ "package.json": "{}", "server.js": "" });
  const outcome = await cli(argv, { cwd: at.path });
  expect([outcome.code, outcome.err]).toEqual([code, expect.stringContaining(text)]);
  expect(existsSync(join(at.path, "berth.yaml"))).toBe(false);
});

test("what it assumed is told, and stands in the manifest", async () => {
  const vite = JSON.stringify({ devDependencies: { vite: "^7.0.0" }, scripts: { start: "vite", build: "vite build" } });
  using at = folder({ "package.json": vite, "index.html": "" });
  const { out, code } = await cli(["init", "--name", "shop/web"], { cwd: at.path });
  expect(code).toBe(0);
  expect(out).toContain("shop/web from node (package.json, vite); port 80");
  expect(out).toContain("assumed: the build makes pages in dist, which nginx serves");
  expect(manifest(at.path)).toContain("  # Assumed: the build makes pages in dist");
});

test("a folder with nothing to start is an error, unless a Procfile says what starts", async () => {
  using at = folder({ "package.json": "{}" });
  const { err, code } = await cli(["init"], { cwd: at.path });
  expect([code, err]).toEqual([1, expect.stringContaining("add a start script, or set build.lang.entrypoint")]);
  using other = folder({ "package.json": "{}", "b.js": "", Procfile: "web: node b.js\n" });
  expect((await cli(["init"], { cwd: other.path })).code).toBe(0);
});

test("one app of a workspace", async () => {
  const next = JSON.stringify({ dependencies: { next: "15" }, scripts: { build: "next build", start: "next start" } });
  using at = folder({
    "package.json": '{"workspaces":["apps/*"]}',
    "apps/a/package.json": next,
    "apps/b/package.json": next,
  });
  const { err } = await cli(["init"], { cwd: at.path });
  expect(err).toContain("berth init --path apps/a");
  expect((await cli(["init", "--path", "apps/b"], { cwd: at.path })).code).toBe(0);
  expect(manifest(at.path)).toContain("  build: { path: apps/b }");
  const refused = await cli(["init", "--path", "a b", "-y"], { cwd: at.path });
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("is not a path")]);
});
