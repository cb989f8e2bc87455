import { afterEach, beforeEach, expect, test } from "bun:test";
import { operator, type Principal } from "../../../../../src/access/principal.ts";
import type { Manifest } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { cronjob, deployment, fixtureImage, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const by: Principal = { type: "token", scopes: ["read", "actions"], apps: [] };
const confined = (body: Manifest | Manifest[], dryRun = false) => it.apply(body, { dryRun, by });
const job = (spec: object): Manifest => ({
  kind: "job",
  scope: "shop",
  name: "tidy",
  spec: { image: fixtureImage, ...spec },
});

const ingress = (spec: object, host = "a.example"): Manifest => ({
  kind: "ingress",
  scope: "shop",
  name: "web",
  spec: { host, ...spec },
});

const reaching: [string, Manifest][] = [
  ["a folder of the machine", deployment("shop", "web", { volumes: ["/:/host"] })],
  ["the network of the machine", deployment("shop", "web", { network_mode: "host" })],
  ["a capability", deployment("shop", "web", { cap_add: ["SYS_ADMIN"] })],
  ["an option of the engine", deployment("shop", "web", { docker_options: ["--privileged"] })],
  ["a folder of the machine in a job", job({ volumes: ["/etc:/host"] })],
  ["an app that becomes such a deployment", { ...deployment("shop", "web", { volumes: ["/:/host"] }), kind: "app" }],
  [
    "the same option in two entries",
    deployment("shop", "web", { env: { docker_options: "host" }, docker_options: ["--pid", "host"] }),
  ],
  ["a port of the machine", deployment("shop", "web", { ports: ["8080:80"] })],
  ["a port on all addresses", deployment("shop", "web", { ports: ["0.0.0.0::80"] })],
  ["a line for the shell of the machine", deployment("shop", "web", { post_deploy: ["id"] })],
  [
    "an option of the engine in an init",
    deployment("shop", "web", { inits: [{ name: "a", command: ["true"], docker_options: ["--privileged"] }] }),
  ],
  ["a cron job with a capability", cronjob("shop", "tidy", {}, { cap_add: ["SYS_ADMIN"] })],
  ["a statefulset with the network of the machine", statefulset("shop", "db", { network_mode: "host" })],
  ["a volume of the engine", deployment("shop", "web", { volumes: ["other_data:/data:external"] })],
  ["a registry", { kind: "registry", name: "hub", spec: { url: "127.0.0.1:5000", username: "a", token: "b" } }],
  ["the routes of a plugin", ingress({ plugin: "edge" })],
  ["a part of the server", ingress({ service: "@observability" })],
  ["a port for TCP", { kind: "ingress", scope: "shop", name: "web", spec: { tcp: { port: 2222 } } }],
  ["a certificate from a file", ingress({ tls: { provider: "file", certificate: "/etc/shadow", key: "/etc/shadow" } })],
  ["a CA of one's own", ingress({ tls: { provider: "acme", directory: "https://10.0.0.1/dir" } })],
  ["a question about certificates", ingress({ tls: { on_demand: true, ask: "http://127.0.0.1:2375/" } }, "*")],
  ["a DNS plugin", ingress({ tls: { dns: "cloud" } })],
  [
    "a file that the server would fetch",
    {
      kind: "asset",
      scope: "shop",
      name: "page",
      spec: { files: { a: { _source: "url", url: "http://127.0.0.1/config" } } },
    },
  ],
];

test.each(reaching)("a confined apply refuses %s and stores nothing", async (_, manifest) => {
  for (const dryRun of [true, false]) {
    const error = await expectFailure(confined([deployment("shop", "other"), manifest], dryRun), "forbidden");
    expect(error.message).toContain("which takes the scope admin");
  }
  expect(it.store.manifests.heads()).toEqual([]);
});

test("it may change everything else, and named volumes of its scope", async () => {
  await confined(deployment("shop", "web", { volumes: ["data:/data"], env: { A: "1" } }));
  expect(it.store.manifests.heads()).toHaveLength(1);
});

test("what is stored already may stay; more of it may not come", async () => {
  const spec = { volumes: ["/srv/web:/data"] };
  await it.apply(deployment("shop", "web", spec));
  await confined(deployment("shop", "web", { ...spec, env: { A: "2" } }));
  await expectFailure(confined(deployment("shop", "web", { volumes: ["/srv/web:/data", "/etc:/etc"] })), "forbidden");
  await expectFailure(confined(deployment("shop", "twin", spec)), "forbidden");
});

test("a value that stands somewhere else in the manifest does not count", async () => {
  const env = { volumes: "/:/h", docker_options: "--privileged", cap_add: "SYS_ADMIN", network_mode: "host" };
  await confined(deployment("shop", "web", { env }));
  for (const more of [
    { volumes: ["/:/h"] },
    { docker_options: ["--privileged"] },
    { cap_add: ["SYS_ADMIN"] },
    { network_mode: "host" },
  ]) {
    await expectFailure(confined(deployment("shop", "web", { env, ...more })), "forbidden");
  }
});

test("options of the engine that stand cannot be put together in another way", async () => {
  await it.apply(deployment("shop", "web", { docker_options: ["--pid", "host", "--ipc", "private"] }));
  const swapped = { docker_options: ["--pid", "host", "--ipc", "host"] };
  await expectFailure(confined(deployment("shop", "web", swapped)), "forbidden");
  await confined(deployment("shop", "web", { docker_options: ["--ipc", "private", "--pid", "host"] }));
  await confined(deployment("shop", "web", { docker_options: ["--pid", "host"] }));
});

test("what was taken away does not come back by a rollback or an abort", async () => {
  const key = { scope: "shop", name: "web" };
  await it.apply(deployment("shop", "web", { volumes: ["/srv:/data"] }));
  await it.settle();
  await it.apply(deployment("shop", "web", { env: { A: "1" } }));
  await it.settle();
  for (const dryRun of [true, false]) {
    const back = it.controller.rollback({ ...key, releaseId: undefined }, { actor: "pat:a", by, dryRun });
    await expectFailure(back, "forbidden");
  }
  await it.controller.rollback({ ...key, releaseId: undefined }, { actor: "root", by: operator });
  await it.settle();
  expect(it.store.manifests.get({ kind: "deployment", ...key })?.spec.volumes).toEqual(["/srv:/data"]);
});
