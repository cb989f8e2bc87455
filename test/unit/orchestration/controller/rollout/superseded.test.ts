import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world({ fetch: refused });
  await it.apply(app("1", { probes: undefined }));
  await it.settle();
});
afterEach(() => it.close());

function refused(): Promise<Response> {
  return Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
}

const key = keyOf("deployment", "shop", "web");
const rollout = { min_ready: "2s", progress_deadline: "60s" };
const probes = { readiness: { http_get: { path: "/healthz", port: 8080 }, period: "1s" } };
const app = (v: string, { probes: set, ...spec }: Spec = { probes }) =>
  deployment("shop", "web", {
    replicas: 1,
    rollout,
    env: { V: v },
    ...(set === undefined ? {} : { probes: set }),
    ...spec,
  });
const podOf = (v: string) => it.runtime.containers().find(({ env }) => env.V === v)?.name ?? "";
/** What is told of the release that the newest one has replaced. */
const told = () => it.store.releases.list(key)[1]?.error?.replace(/^superseded by release \w+/, "");
const back = () => it.controller.rollback({ ...key, releaseId: undefined }, { actor: "ana" });

test("a release that a rollback replaces keeps what its probe got", async () => {
  await it.apply(app("2"));
  await it.advance(10_000);
  const pod = podOf("2");
  await back();
  expect(told()).toStartWith(`; not ready until then: ${pod} `);
  expect(told()).toContain("readiness probe");
  expect(it.store.releases.list(key)[1]?.reasons).toEqual(["Superseded"]);
});

test("a release that another apply replaces keeps how its replica crashed", async () => {
  await it.apply(app("2", {}));
  await it.advance(1_000);
  const pod = podOf("2");
  it.runtime.crash(pod, 3);
  await it.quiet();
  await it.apply(app("3", {}));
  expect(told()).toBe(`; not ready until then: ${pod} restarted once, last exit code 3`);
});

test("a release whose image cannot be had keeps that", async () => {
  await it.apply(app("2", { image: "nowhere:1" }));
  await it.advance(5_000);
  await back();
  expect(told()).toContain('not ready until then: cannot pull image "nowhere:1"');
});

test("a release of which nothing bad is known says no more than who replaced it", async () => {
  await it.apply(app("2", {}));
  await it.quiet();
  await it.apply(app("3", {}));
  expect(told()).toBe("");
});
