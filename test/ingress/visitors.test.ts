import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import { type Dockerd, startDockerd } from "../support/dockerd.ts";
import { executable } from "../support/executable.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { type Visitors, visitors } from "../support/visitors.ts";
import { importBun, webApp } from "../support/web-app-image.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(300_000);

const rounds = Number(process.env.BERTH_TEST_ROUNDS ?? 1);
const perSecond = Number(process.env.BERTH_TEST_VISITS ?? 50);
const sockets = 50;
/** Further hosts that all change every second, for some seconds. */
const hosts = Number(process.env.BERTH_TEST_HOSTS ?? 100);
const changes = 5;
/** Open WebSockets hold a replica for this long before it is told to end. */
const rollout = { drain: "1s", progress_deadline: "60s" };

let docker: Dockerd;
let it: Rig;
let all: Visitors;
let port: number;
let page = 0;

const app = (spec: Spec = {}): Manifest => {
  page += 1;
  return {
    kind: "deployment",
    scope: "soak",
    name: "web",
    spec: webApp(`page ${page}`, { replicas: 3, rollout, ...spec }),
  };
};

const ready = () => it.ready("deployment", "soak", "web", 120_000);

async function apply(manifest: Manifest): Promise<void> {
  const { status, body } = await it.apply(manifest);
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  await ready();
}

beforeAll(async () => {
  docker = await startDockerd();
  await importBun(docker.host);
  port = await freePort();
  const flags = ["--ingress-http-addr", `127.0.0.1:${port}`, "--ingress-https-addr", ""];
  it = await rig({ flags, dockerHost: docker.host });
  await it.apply({ kind: "ingress", scope: "soak", name: "web", spec: { host: "soak.test" } });
  await apply(app());
  await waitFor("the page", isServed);
  all = await visitors({ port, host: "soak.test", perSecond, sockets });
});

afterAll(async () => {
  all?.close();
  await it?.close();
  await docker?.close();
});

async function failedDeploy(): Promise<void> {
  const broken = { readiness: { http_get: { path: "/", port: 9 }, period: "500ms" } };
  const { status } = await it.apply(app({ probes: broken, rollout: { ...rollout, progress_deadline: "5s" } }));
  expect(status).toBe(200);
  await waitFor(
    "the release to fail and the last one to come back",
    async () => {
      const { body } = await it.call("GET", "/releases?scope=soak&name=web");
      const [newest] = (body.data as unknown as { releases: { cause: string; status: string }[] }).releases;
      return newest?.cause === "auto_rollback" && newest.status === "succeeded";
    },
    90_000,
  );
  await ready();
}

async function upgrade(): Promise<void> {
  const next = join(it.root, "berth-next");
  cpSync(executable, next);
  await it.stop();
  await it.start(next);
  await apply(app());
}

async function changeHosts(): Promise<void> {
  for (let change = 0; change < changes; change += 1) {
    const began = performance.now();
    page += 1;
    const to = `page-${page}.test`;
    const routes = Array.from({ length: hosts }, (_, host) => {
      const spec = { host: `h${host}.test`, service: "web", redirects: [{ from: `www.h${host}.test`, to }] };
      return { kind: "ingress", scope: "soak", name: `h${host}`, spec } as const;
    });
    const { status, body } = await it.apply(...routes);
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    await waitFor("the last host to be routed", async () => (await redirected(`www.h${hosts - 1}.test`)).includes(to));
    await Bun.sleep(Math.max(0, 1_000 - (performance.now() - began)));
  }
}

async function redirected(host: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { host }, keepalive: false, redirect: "manual" });
  return answer.headers.get("location") ?? "";
}

/** The proxy itself dies: what it serves is lost, and it is back at once. */
async function killedProxy(): Promise<void> {
  const master = Number(readFileSync(join(it.root, "run/haproxy.pid"), "utf8"));
  const workers = readFileSync(`/proc/${master}/task/${master}/children`, "utf8").trim().split(" ").map(Number);
  process.kill(master, "SIGKILL");
  for (const pid of workers) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // A worker of an earlier configuration ends by itself.
      if ((error as { code?: unknown }).code !== "ESRCH") throw error;
    }
  }
  const began = performance.now();
  await waitFor("the proxy to serve again", () => isServed());
  console.log(`the proxy was back after ${Math.round(performance.now() - began)} ms`);
}

const isServed = async () => {
  const headers = { host: "soak.test" };
  return (await fetch(`http://127.0.0.1:${port}/`, { headers, keepalive: false })).status === 200;
};

const happenings: [string, () => Promise<void>][] = [
  ["a deploy", () => apply(app())],
  ["a deploy that fails and goes back", failedDeploy],
  [
    "a restart",
    async () => {
      expect((await it.call("POST", "/restart?kind=deployment&scope=soak&name=web")).status).toBe(200);
      await ready();
    },
  ],
  [
    "a new config value",
    async () => {
      expect((await it.call("POST", "/config?scope=soak&name=web", { COLOR: `${page}` })).status).toBe(200);
      await ready();
    },
  ],
  [
    "a scale to 1 and back to 3",
    async () => {
      await apply(app({ replicas: 1 }));
      await apply(app({ replicas: 3 }));
    },
  ],
  [`${changes} changes of ${hosts} hosts`, changeHosts],
  [
    "kill -9 of the server",
    async () => {
      await it.stop("SIGKILL");
      await Bun.sleep(1_000);
      await it.start();
      await apply(app());
    },
  ],
  ["an upgrade of the server", upgrade],
  [
    "a restart of the Docker daemon",
    async () => {
      await docker.stop();
      await Bun.sleep(1_000);
      await docker.start();
      await apply(app());
    },
  ],
];

for (let round = 1; round <= rounds; round += 1) {
  test.each(happenings)(`round ${round}: no visitor notices %s`, async (name, happen) => {
    await all.report();
    await happen();
    // What still goes to a replica that has just gone would fail now.
    await Bun.sleep(1_000);
    const seen = await all.report();
    const times = `p50 ${seen.p50Ms.toFixed(1)} ms, p99 ${seen.p99Ms.toFixed(1)} ms, slowest ${seen.maxMs.toFixed(0)} ms`;
    console.log(
      `${name}: ${seen.requests} requests, ${seen.failed.length} failed, ${times}; ` +
        `WebSockets: ${seen.socketsTold} closed by the app, ${seen.socketsLost.length} lost`,
    );
    expect(seen.failed).toEqual([]);
    expect(seen.socketsLost).toEqual([]);
    expect(seen.requests).toBeGreaterThan(perSecond);
  });
}

test("would show: a proxy that is killed loses requests and WebSockets, and is back at once", async () => {
  await all.report();
  await killedProxy();
  await Bun.sleep(1_000);
  const lost = await all.report();
  expect(lost.failed.length).toBeGreaterThan(0);
  expect(lost.socketsLost.length).toBeGreaterThan(0);
  await Bun.sleep(1_000);
  expect((await all.report()).failed).toEqual([]);
});

test("would show: a replica that is killed takes its WebSockets with it", async () => {
  await all.report();
  const [victim] = await it.pods("soak", "web");
  it.docker(["kill", victim?.name ?? ""]);
  await ready();
  const seen = await all.report();
  expect(seen.socketsLost.length).toBeGreaterThan(0);
});
