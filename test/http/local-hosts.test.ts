import { afterEach, beforeEach, expect, test } from "bun:test";
import { deployment } from "../support/manifests.ts";
import { plane } from "../support/plane.ts";
import { type World, world } from "../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

test("the plan and the apply warn of a host that Let's Encrypt does not certify, also of an app", async () => {
  const ask = plane(it);
  const app = { ...deployment("shop", "web", { ports: ["80"], host: "web.localhost", tls: {} }), kind: "app" };
  const text = "tls: Let's Encrypt certifies public domains only, not web.localhost; write tls: { provider: internal }";
  const plan = await ask("POST /apply?dry_run=true", [app]);
  const row = expect.objectContaining({ ref: "ingress/shop/web", notes: [text] });
  expect(plan.data.plan).toEqual(expect.arrayContaining([row]));
  const applied = await ask("POST /apply", [app]);
  expect([applied.status, applied.data.warnings]).toEqual([200, [`ingress/shop/web: ${text}`]]);
  const internal = { ...app, spec: { ...app.spec, tls: { provider: "internal" } } };
  expect((await ask("POST /apply", [internal])).data.warnings).toBeUndefined();
});
