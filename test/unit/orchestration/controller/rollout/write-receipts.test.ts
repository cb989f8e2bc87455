import { afterEach, expect, test } from "bun:test";
import type { ManifestKey } from "../../../../../src/orchestration/api/manifest.ts";
import { deployment } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const app = (v: string) => deployment("shop", "web", { replicas: 2, rollout: { min_ready: "5s" }, env: { V: v } });

/** One request a second at all times, the failed ones in the first seconds after `brokenAt`. */
function steadyTraffic(brokenAt: () => number) {
  return ({ name }: ManifestKey, { from, to }: { from: number; to: number }) => {
    if (name !== "web") return undefined;
    const seconds = Math.round((to - from) / 1_000);
    const failed = from >= brokenAt() ? 2 : 0;
    return { requests: seconds, failed, p50_ms: 3, p99_ms: 9 };
  };
}

async function started(): Promise<void> {
  it = await world({ trafficOf: steadyTraffic(() => Number.POSITIVE_INFINITY) });
  await it.apply(app("1"));
  await it.settle();
}

const receipt = async () => {
  const { releases } = await it.controller.listReleases({ kind: "deployment", scope: "shop", name: "web" });
  return releases[0]?.receipt;
};

test("a release that has ended carries the traffic before and during it, and half a minute later that after it", async () => {
  await started();
  await it.apply(app("2"));
  await it.settle();
  const first = await receipt();
  expect(first?.before).toEqual({ seconds: 60, requests: 60, failed: 0, p50_ms: 3, p99_ms: 9 });
  expect(first?.during.requests).toBeGreaterThanOrEqual(10);
  expect(first?.after).toBeUndefined();
  await it.advance(31_000);
  expect((await receipt())?.after).toMatchObject({ seconds: 30, requests: 30 });
});

test("a failed release has a receipt, too", async () => {
  await started();
  await it.apply(deployment("shop", "web", { replicas: 2, rollout: { progress_deadline: "20s" }, image: "missing:1" }));
  await it.advance(60_000);
  const failed = it.store.releases.list(key).find(({ status }) => status === "failed");
  expect(failed).toBeDefined();
  expect(it.store.receipts.get(failed?.id ?? "")?.during.requests).toBeGreaterThan(0);
});

test("without an ingress there are no receipts", async () => {
  it = await world();
  await it.apply(app("1"));
  await it.settle();
  expect(await receipt()).toBeUndefined();
});

test("a receipt stays what it was when the server ends before the time after it is over", async () => {
  await started();
  await it.apply(app("2"));
  await it.settle();
  await it.restart();
  await it.advance(60_000);
  expect(await receipt()).toMatchObject({ before: { requests: 60 } });
});

test("receipts go with their releases", async () => {
  await started();
  const [first] = it.store.releases.list(key);
  await it.controller.deleteResource(
    { scope: "shop", name: "web", ordinal: undefined },
    { actor: "test", prune: false },
  );
  await it.settle();
  await it.apply(app("3"));
  await it.settle();
  expect(it.store.receipts.get(first?.id ?? "")).toBeUndefined();
});
