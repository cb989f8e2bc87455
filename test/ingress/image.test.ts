import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import { importProxyImage, withoutHaproxy } from "../support/proxy-image.ts";
import { freePort } from "../support/ports.ts";
import { longRoot, type Rig, rig } from "../support/rig.ts";
import { isAlive, waitFor } from "../support/wait.ts";

/** No earlier run has left it. */
const image = `berth-haproxy:${Math.random().toString(36).slice(2, 8)}`;

let it: Rig;
let port: number;
let tls: number;
let folder: string;
let program: string;

const page = (text: string) => `mkdir -p /www && echo "${text}" > /www/index.html && exec httpd -f -p 8080 -h /www`;

const app = (text: string): Manifest => ({
  kind: "deployment",
  scope: "web",
  name: "shop",
  spec: {
    image: "berth-fixture:1",
    replicas: 2,
    command: ["sh", "-c", page(text)],
    ports: ["8080"],
    probes: { readiness: { http_get: { path: "/", port: 8080 }, period: "1s" } },
    stop_grace: "1s",
  },
});

const route = (spec: Spec = {}): Manifest => ({
  kind: "ingress",
  scope: "web",
  name: "shop",
  spec: { host: "shop.test", ...spec },
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "no-haproxy."));
  program = withoutHaproxy(folder);
  port = await freePort();
  tls = await freePort();
  const addresses = ["--ingress-http-addr", `127.0.0.1:${port}`, "--ingress-https-addr", `127.0.0.1:${tls}`];
  it = await rig({ root: longRoot(), flags: [...addresses, "--ingress-image", image], program });
});

afterAll(async () => {
  await it.close();
  it.docker(["rmi", "-f", image]);
  rmSync(folder, { recursive: true, force: true });
});

async function get(host = "shop.test"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { host }, keepalive: false });
  return `${response.status} ${(await response.text()).trim().slice(0, 60)}`;
}

const shows = (text: string) => waitFor(`the page to be ${text}`, async () => (await get().catch(String)) === text);
const proxyPid = () => Number(readFileSync(`${it.root}/run/haproxy.pid`, "utf8").trim());
const container = () => `${it.prefix}-ingress`;
/** Of a machine without HAProxy, too. */
async function doctor(): Promise<string> {
  const flags = ["--root", it.root, "--docker-host", it.dockerHost];
  return (await new Response(Bun.spawn([program, "doctor", ...flags], { stdout: "pipe" }).stdout).text()).toString();
}
const status = async () => (await it.cli(["ingress", "status"])).stdout;

function load(lanes = 4) {
  let isOver = false;
  let count = 0;
  const bad: string[] = [];
  const lane = async () => {
    while (!isOver) {
      const said = await get().catch((error: unknown) => `failed: ${error}`);
      count += 1;
      if (!said.startsWith("200 ")) bad.push(said);
      await Bun.sleep(10);
    }
  };
  const all = Array.from({ length: lanes }, lane);
  return {
    async end() {
      isOver = true;
      await Promise.all(all);
      return { bad, count };
    },
  };
}

test("without an ingress, nothing is fetched; an image that cannot be had is said, with what to install", async () => {
  expect(await status()).toMatch(/^proxy +waiting/);
  const answer = await it.apply(app("one"), route());
  expect(answer.status).toBe(200);
  await waitFor("the pull to fail", async () => (await status()).includes("unavailable"));
  expect(await status()).toMatch(new RegExp(`${image}.*apt-get install haproxy`, "s"));
  expect(await doctor()).toMatch(new RegExp(`^warn +ingress +ingresses are not served: .*${image}`, "m"));
});

test("the image serves by host name, once it is there", async () => {
  importProxyImage(it.dockerHost, image);
  await shows("200 one");
  expect(await get("other.test")).toStartWith("404 ");
  const runs = new RegExp(`^proxy +running, HAProxy \\S+ of the image ${image}, pid ${proxyPid()}`);
  // The first load follows its start at once.
  await waitFor("the proxy to be loaded", async () => runs.test(await status()));
  expect(await doctor()).toMatch(new RegExp(`^ok +ingress +the image ${image}, running$`, "m"));
  // Its workers have no right of root.
  expect(it.docker(["top", container(), "-o", "pid,user,args"])).toMatch(/^\d+ +(?:99|haproxy|\S+) .*haproxy/m);
});

test("it serves TLS, and a new certificate and new routes without a load", async () => {
  const pid = proxyPid();
  await it.apply(route({ tls: { provider: "internal" } }));
  const root = await it.call("GET", "/certificates/authority");
  const { certificate } = root.body.data as unknown as { certificate: string };
  await waitFor("https", async () => {
    const answer = await fetch(`https://127.0.0.1:${tls}/`, {
      headers: { host: "shop.test" },
      tls: { ca: certificate, serverName: "shop.test" },
    }).catch(() => undefined);
    return answer !== undefined && (await answer.text()).trim() === "one";
  });
  await it.apply(route());
  await shows("200 one");
  expect(proxyPid()).toBe(pid);
});

test("no request fails through a rollout, a reload, and kill -9 of the server", async () => {
  const pid = proxyPid();
  const traffic = load();
  await it.apply(app("two"));
  await it.ready("deployment", "web", "shop");
  await shows("200 two");
  expect((await it.cli(["ingress", "reload"])).exitCode).toBe(0);
  await it.stop("SIGKILL");
  expect(await get()).toBe("200 two");
  await it.start(program);
  await it.apply(app("three"), route({ limits: { connections: 50 } }));
  await it.ready("deployment", "web", "shop");
  await shows("200 three");
  const { bad, count } = await traffic.end();
  expect(bad).toEqual([]);
  expect(count).toBeGreaterThan(20);
  expect(proxyPid()).toBe(pid);
});

test("a proxy that is killed is back, with the last table", async () => {
  const pid = proxyPid();
  process.kill(pid, "SIGKILL");
  await waitFor("another master", () => {
    const now = proxyPid();
    return now !== pid && isAlive(now);
  });
  await shows("200 three");
  it.docker(["rm", "-f", container()]);
  await waitFor("the page", async () => (await get().catch(() => "")) === "200 three");
});

test("a stop frees the ports, a reload serves again", async () => {
  const pid = proxyPid();
  expect((await it.cli(["ingress", "stop", "-y"])).exitCode).toBe(0);
  expect(isAlive(pid)).toBe(false);
  expect(await get().catch(() => "refused")).toBe("refused");
  expect((await it.cli(["ingress", "reload"])).exitCode).toBe(0);
  await shows("200 three");
});
