import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { PodEndpoint } from "../../src/orchestration/api/pod-endpoint.ts";
import type { Spec } from "../../src/orchestration/api/manifest.ts";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import type { Engine } from "../../src/orchestration/engine/engine.ts";
import { requireDocker, type Scratch, scratch } from "../support/docker.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { type Plane, startPlaneOn } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

setDefaultTimeout(60_000);

let yard: Scratch;
let plane: Plane<Engine>;
let heard = 0;
beforeAll(async () => {
  yard = scratch();
  const { names } = yard;
  plane = await startPlaneOn(
    (_, installationId) => createDockerEngine({ host: requireDocker(), installationId, names }),
    { names, fetch: (url, options) => fetch(url, options) },
  );
  plane.endpoints.subscribe(() => heard++);
});
afterEach(async () => {
  await plane.controller.deleteScope("shop", { prune: true, actor: "test" });
  await endpoints("everything to go", (found) => found.length === 0);
});
afterAll(async () => {
  await plane?.close();
  await yard?.cleanUp();
});

/** Serves its own host name; `/srv/ready` is what the probe asks for. */
const serve = "mkdir -p /srv && hostname >/srv/who && touch /srv/ready && exec httpd -f -p 8080 -h /srv";
const readiness = { http_get: { path: "/ready", port: 8080 }, period: "200ms", failure_threshold: 1 };
const serving: Spec = {
  command: ["sh", "-c", serve],
  ports: ["8080"],
  probes: { readiness },
  rollout: { min_ready: "0s", drain: "1s" },
};

const apply = (manifest: ReturnType<typeof deployment>) =>
  plane.controller.apply(manifest, { dryRun: false, prune: false, force: false, actor: "test" });

/** Waits for what is told, without ever asking in between: an edge that is not told is not seen. */
async function endpoints(what: string, holds: (found: PodEndpoint[]) => boolean): Promise<PodEndpoint[]> {
  let found = plane.endpoints.list() ?? [];
  const leave = plane.endpoints.subscribe(() => {
    found = plane.endpoints.list() ?? [];
  });
  try {
    return await waitFor(what, async () => {
      if (!holds(found)) throw new Error(JSON.stringify(found));
      return found;
    });
  } finally {
    leave();
  }
}

const ask = async ({ ip, ports }: PodEndpoint) => (await fetch(`http://${ip}:${ports[0]}/who`)).text();
const within = async ({ id }: PodEndpoint, script: string) => {
  const session = await plane.runtime.exec(podRef(id), {
    command: ["sh", "-c", script],
    env: [],
    tty: false,
    interactive: false,
  });
  for await (const _ of session.output);
  expect(await session.exitCode()).toBe(0);
};
const allReady = (count: number) => (found: PodEndpoint[]) =>
  found.length === count && found.every(({ ready, ip }) => ready && ip !== undefined);

test("every replica answers at its address, as itself", async () => {
  await apply(deployment("shop", "web", { ...serving, replicas: 2 }));
  await apply(statefulset("shop", "db", { ...serving, replicas: 1 }));
  const found = await endpoints("three ready replicas", allReady(3));
  expect(found.map(({ kind, ports, leaving }) => ({ kind, ports, leaving }))).toEqual([
    { kind: "deployment", ports: [8080], leaving: false },
    { kind: "deployment", ports: [8080], leaving: false },
    { kind: "statefulset", ports: [8080], leaving: false },
  ]);
  for (const endpoint of found) {
    const { Config } = await yard.docker.getContainer(endpoint.id).inspect();
    expect((await ask(endpoint)).trim()).toBe(Config.Hostname);
  }
});

test("readiness that is lost and comes back is told, both times", async () => {
  await apply(deployment("shop", "web", serving));
  const [web] = await endpoints("a ready replica", allReady(1));
  if (web === undefined) throw new Error("no endpoint");
  const before = heard;
  await within(web, "rm /srv/ready");
  expect(await endpoints("the edge down", ([one]) => one?.ready === false)).toMatchObject([{ ...web, ready: false }]);
  await within(web, "touch /srv/ready");
  expect(await endpoints("the edge up", allReady(1))).toEqual([web]);
  expect(heard - before).toBeGreaterThanOrEqual(2);
});

test("a replica that is killed vanishes, and the one that takes its place answers", async () => {
  await apply(deployment("shop", "web", serving));
  const [web] = await endpoints("a ready replica", allReady(1));
  if (web === undefined) throw new Error("no endpoint");
  const seen: number[] = [];
  const leave = plane.endpoints.subscribe(() => seen.push(plane.endpoints.list()?.length ?? -1));
  await yard.docker.getContainer(web.id).remove({ force: true });
  const [next] = await endpoints("another replica", ([one]) => one !== undefined && one.id !== web.id && one.ready);
  leave();
  expect(seen).toContain(0);
  expect(await ask(next as PodEndpoint)).not.toBe("");
});

test("a replica that a rollout replaces leaves before it goes, while the next one is ready", async () => {
  await apply(deployment("shop", "web", serving));
  const [web] = await endpoints("a ready replica", allReady(1));
  const seen = new Set<string>();
  const leave = plane.endpoints.subscribe(() => {
    const found = plane.endpoints.list() ?? [];
    const word = ({ id, ready, leaving }: PodEndpoint) =>
      `${id === web?.id ? "old" : "new"} ${leaving ? "leaving" : ready ? "ready" : "waiting"}`;
    seen.add(found.map(word).sort().join(", "));
  });
  await apply(deployment("shop", "web", { ...serving, env: { V: "2" } }));
  await endpoints("the next one alone", (found) => allReady(1)(found) && found[0]?.id !== web?.id);
  leave();
  expect(seen).toContain("new ready, old leaving");
  for (const text of seen) expect(text).toContain("ready");
});
