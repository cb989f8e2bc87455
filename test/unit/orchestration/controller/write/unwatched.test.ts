import { afterEach, expect, test } from "bun:test";
import { deployment } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const guarded = (v: string) => deployment("shop", "web", { env: { V: v }, rollout: { guard: { errors: "5%" } } });
const text = "rollout.guard: watches nothing, because this server's ingress does not lead to deployment/shop/web";
const figures = { requests: 0, failed: 0 };

async function told(manifest = guarded("2")) {
  const { plan, warnings = [] } = await it.apply(manifest, { dryRun: true });
  return { notes: plan?.[0]?.notes, warnings };
}

test("a guard without an ingress is told at once", async () => {
  it = await world();
  expect(await told()).toEqual({ notes: [text], warnings: [`deployment/shop/web: ${text}`] });
});

test("a guard of a resource that no ingress leads to is told with the second apply: the first may bring one", async () => {
  it = await world({ trafficOf: () => undefined });
  expect(await told()).toEqual({ notes: [], warnings: [] });
  await it.apply(guarded("1"));
  expect((await told()).notes).toEqual([text]);
});

test("a guard with requests to watch is no reason to warn, and neither is a resource without one", async () => {
  it = await world({ trafficOf: () => figures });
  await it.apply(guarded("1"));
  expect(await told()).toEqual({ notes: [], warnings: [] });
  await it.close();
  it = await world();
  expect((await told(deployment("shop", "web"))).notes).toEqual([]);
});

test("wake without an ingress is told, and not where there is one, or may come with the first apply", async () => {
  const sleeper = (v: string) => deployment("shop", "web", { wake: true, env: { V: v } });
  const warning =
    "wake: it never sleeps by itself, and requests do not wake it, because this server's ingress does not lead to " +
    "deployment/shop/web";
  it = await world();
  expect((await told(sleeper("1"))).notes).toEqual([warning]);
  await it.close();
  it = await world({ trafficOf: () => undefined });
  expect((await told(sleeper("1"))).notes).toEqual([]);
  await it.apply(sleeper("1"));
  expect((await told(sleeper("2"))).notes).toEqual([warning]);
  await it.close();
  it = await world({ trafficOf: () => figures });
  await it.apply(sleeper("1"));
  expect((await told(sleeper("2"))).notes).toEqual([]);
});
