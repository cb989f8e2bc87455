import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

/** The plugin of docs/plugins.md, which routes with Caddy; HAProxy is off. */
let it: Rig;
let port: number;
let caddy: Bun.Subprocess;
let routes: string;

const docs = readFileSync(join(import.meta.dir, "../../docs/plugins.md"), "utf8");
function scriptOf(name: string): string {
  const found = new RegExp(`\`\`\`sh ${name}\n(.*?)\`\`\``, "s").exec(docs)?.[1];
  if (found === undefined) throw new Error(`docs/plugins.md has no ${name}`);
  return found.replaceAll("BERTH_", `${naming(it.prefix).envPrefix}_`);
}

const page = (text: string) => `mkdir -p /www && echo "${text}" > /www/index.html && exec httpd -f -p 8080 -h /www`;
const app = (text: string): Manifest => ({
  kind: "deployment",
  scope: "shop",
  name: "web",
  spec: {
    ...{ image: "berth-fixture:1", command: ["sh", "-c", page(text)], ports: ["8080"], stop_grace: "1s" },
    probes: { readiness: { http_get: { path: "/", port: 8080 }, period: "1s" } },
  },
});
const route = (spec: Spec = {}): Manifest => ({
  kind: "ingress",
  scope: "shop",
  name: "web",
  spec: { host: "shop.test", plugin: "front", ...spec },
});

beforeAll(async () => {
  port = await freePort();
  const admin = await freePort();
  it = await rig({ flags: ["--ingress-http-addr", "", "--ingress-https-addr", ""] });
  const home = join(it.root, "caddy");
  routes = join(home, "routes");
  mkdirSync(routes, { recursive: true });
  const config = join(home, "Caddyfile");
  writeFileSync(config, `{\n  admin 127.0.0.1:${admin}\n  http_port ${port}\n}\nimport ${routes}/*.caddy\n`);
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  const log = Bun.file(join(home, "log"));
  caddy = Bun.spawn(["caddy", "run", "--adapter", "caddyfile", "--config", config], { env, stdout: log, stderr: log });
  const bin = join(it.root, "plugins/front/bin");
  mkdirSync(bin, { recursive: true });
  const places = `CADDY_ROUTES: "${routes}"\n  CADDY_CONFIG: "${config}"\n  HOME: "${home}"\n`;
  writeFileSync(join(bin, "../plugin.yml"), `name: front\nversion: 1.0.0\nenv:\n  ${places}`);
  for (const command of ["apply", "remove"]) {
    writeFileSync(join(bin, command), scriptOf(`front-${command}`));
    chmodSync(join(bin, command), 0o755);
  }
  await waitFor("caddy", async () => (await fetch(`http://127.0.0.1:${admin}/config/`)).ok);
});

afterAll(async () => {
  caddy.kill();
  await caddy.exited;
  await it.close();
});

async function get(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { host: "shop.test" }, keepalive: false });
  return (await answer.text()).trim();
}
const shows = (text: string) => waitFor(`the page "${text}"`, async () => (await get().catch(String)) === text);

test("a plugin routes an ingress, follows the replicas through a deploy, and forgets it after a delete", async () => {
  const { body } = await it.apply(app("one"), route());
  expect(JSON.stringify(body)).not.toContain("not served");
  await shows("one");
  const status = await waitFor("the answer of the plugin", async () => {
    const found = await it.status("ingress", "shop", "web");
    return Object(found.data).url === undefined ? undefined : found;
  });
  expect(status).toMatchObject({ plugin: "front", data: { url: "http://shop.test", host: "shop.test" } });
  await it.apply(app("two"), route());
  await shows("two");
  await waitFor("the old replica to be gone", async () => {
    const { stdout } = await it.cli(["ingress", "ls"]);
    return /shop\/web by front +1 ready/.test(stdout);
  });
  expect(await get()).toBe("two");
  expect((await it.call("DELETE", "/apply?kind=ingress&scope=shop&name=web")).status).toBe(200);
  await waitFor("the removal", () => readdirSync(routes).length === 0);
  await waitFor("Caddy to forget the site", async () => (await get().catch(() => "gone")) === "gone");
});

test("the only plugin that can route takes an ingress that names none, with its own word for a policy", async () => {
  const { plugin: _, ...spec } = route({ lb: { policy: "header X-Shard" } }).spec;
  const { body } = await it.apply(app("two"), { ...route(), spec });
  expect(JSON.stringify(body)).toContain('the plugin \\"front\\" routes it: it is this server\'s default');
  expect(JSON.stringify(await it.apply({ ...route(), spec }))).not.toContain("routes it");
  await shows("two");
  const status = await it.cli(["ingress", "status"]);
  expect(status).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("1 by the plugin front") });
  rmSync(join(routes, "shop-web.caddy"));
  expect(await it.cli(["ingress", "reload"])).toMatchObject({ exitCode: 0 });
  expect(readdirSync(routes)).toEqual(["shop-web.caddy"]);

  const beyond = await it.apply({ ...route(), spec: { ...spec, compress: true } });
  expect(JSON.stringify(beyond.body)).toContain("stored, but not served: spec.compress: does not reach a plugin");
  await it.tells("ingress shop/web", "spec.compress: does not reach a plugin");
  expect((await it.cli(["describe", "ingress", "shop/web"])).stdout).toContain("failing");
  await waitFor("the route to be taken back", () => readdirSync(routes).length === 0);
  expect((await it.cli(["ingress", "status"])).exitCode).toBe(1);
  await it.apply({ ...route(), spec });
  await shows("two");
});

test("an ingress fails at once when its plugin is disabled, and is served again when it is enabled", async () => {
  const phase = async () => (await it.cli(["get", "ingress", "shop/web"])).stdout;
  expect(await phase()).toContain("ready");
  expect(await it.cli(["plugins", "disable", "front"])).toMatchObject({ exitCode: 0 });
  expect(await phase()).toMatch(/failing.*plugin "front" is disabled/);
  await waitFor("the status to say so", async () => {
    const { last_reconcile_error: error } = await it.status("ingress", "shop", "web");
    return String(error).includes('plugin "front" is disabled');
  });
  expect(await it.cli(["plugins", "enable", "front"])).toMatchObject({ exitCode: 0 });
  await waitFor("the ingress to be served", async () => (await phase()).includes("ready"));
  await shows("two");
});

test("what the plugin refuses is shown, and the route before stays", async () => {
  await it.apply(app("two"), route());
  await shows("two");
  chmodSync(join(it.root, "plugins/front/bin/apply"), 0o644);
  writeFileSync(join(it.root, "plugins/front/bin/apply"), "#!/bin/sh\necho 'no room for routes' >&2\nexit 3\n");
  chmodSync(join(it.root, "plugins/front/bin/apply"), 0o755);
  await it.apply(app("two"), route({ lb: { policy: "random" } }));
  await it.tells("ingress shop/web", 'plugin "front" apply exited 3: no room for routes');
  expect(await get()).toBe("two");
});
