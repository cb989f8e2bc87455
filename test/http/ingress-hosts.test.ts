import { afterEach, beforeEach, expect, test } from "bun:test";
import { deployment } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { type World, world } from "../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world();
  ask = plane(it);
});
afterEach(() => it.close());

const ingress = (scope: string, name: string, spec: object) => ({ kind: "ingress", scope, name, spec });
const apply = async (...manifests: object[]) => {
  const { status, text } = await ask("POST /apply", manifests);
  return [status, text] as const;
};
const wildcard = (more: object = {}) => ingress("shop", "all", { hosts: ["shop.test", "*.shop.test"], ...more });
const refused = (host: string) => [
  400,
  expect.stringContaining(`spec.host: \\"${host}\\" is below \\"*.shop.test\\" of ingress/shop/all; use another host`),
];

test("a host below the wildcard of another scope is refused, at every depth and in every form", async () => {
  expect((await apply(wildcard()))[0]).toBe(200);
  for (const host of ["evil.shop.test", "a.b.shop.test", "*.evil.shop.test", "EVIL.shop.test"])
    expect([host, await apply(ingress("evil", "web", { host }))]).toEqual([host, refused(host.toLowerCase()) as never]);
  const redirected = ingress("evil", "web", { host: "evil.test", redirects: [{ from: "www.shop.test" }] });
  expect(await apply(redirected)).toEqual(refused("www.shop.test") as never);
  expect(it.store.manifests.list({ scope: "evil" })).toEqual([]);
});

test("its own scope, a host beside it, and a scope with which it shares may have one", async () => {
  await apply(wildcard());
  expect((await apply(ingress("shop", "api", { host: "api.shop.test" })))[0]).toBe(200);
  expect((await apply(ingress("blog", "web", { host: "otherhop.test" })))[0]).toBe(200);
  expect((await apply(wildcard({ shared: true })))[0]).toBe(200);
  expect(await apply(ingress("blog", "api", { host: "blog.shop.test" }))).toEqual(refused("blog.shop.test") as never);
  expect((await apply(ingress("blog", "api", { host: "blog.shop.test", shared: true })))[0]).toBe(200);
  // Its own names need no sharing.
  expect((await apply(ingress("shop", "two", { host: "two.shop.test" })))[0]).toBe(200);
});

test("who was there before the wildcard stays, and may change the rest of the manifest", async () => {
  const first = (more: object) => ingress("blog", "web", { host: "blog.shop.test", ...more });
  await apply(first({}));
  expect((await apply(wildcard()))[0]).toBe(200);
  expect((await apply(first({ compress: true })))[0]).toBe(200);
  expect(await apply(first({ hosts: ["new.shop.test"] }))).toEqual(refused("new.shop.test") as never);
});

test("the host * gives way to any host, as before", async () => {
  await apply(ingress("saas", "app", { host: "*" }));
  expect((await apply(ingress("shop", "web", { host: "shop.test" })))[0]).toBe(200);
});

test("one apply may bring the wildcard and the hosts below it", async () => {
  expect((await apply(wildcard(), ingress("blog", "web", { host: "blog.shop.test" })))[0]).toBe(200);
});

test("a preview may have a host below the wildcard of what it previews, and no other scope may", async () => {
  await apply(wildcard());
  const made = await ask("POST /previews?of=shop&for=1d&branch=cart&host=cart.shop.test");
  const preview = String((made.data as { scope: string }).scope);
  expect((await apply(ingress(preview, "web", { host: "cart.shop.test" })))[0]).toBe(200);
  expect((await apply(ingress(`${preview}x`, "web", { host: "x.shop.test" })))[0]).toBe(400);
});

test("the plan and the apply tell of a protected path beside an open one of the same app", async () => {
  const open = { ...deployment("shop", "web", { ports: ["80"], host: "a.test" }), kind: "app" };
  const admin = { host: "a.test", service: "web", locations: [{ path: "/admin" }], basic_auth: { ann: "secret" } };
  const text = expect.stringContaining('"a.test/admin" has basic_auth, and "a.test/" of ingress/shop/web leads to');
  const both = [open, ingress("shop", "admin", admin)];
  const { data } = await ask("POST /apply?dry_run=true", both);
  const notes = Object.fromEntries(
    (data as { plan: { ref: string; notes: string[] }[] }).plan.map((row) => [row.ref, row.notes]),
  );
  expect([notes["ingress/shop/web"], notes["ingress/shop/admin"]]).toEqual([[text], [text]]);
  const applied = await ask("POST /apply", both);
  expect([applied.status, (applied.data as { warnings: string[] }).warnings]).toEqual([200, [text, text]]);
  // Nothing changes, so nothing is told.
  expect((await ask("POST /apply", both)).data).not.toHaveProperty("warnings");
});

test("a TCP port that another program listens on is refused with its path, in the plan too, and one of an ingress is not", async () => {
  const binding = { hostIp: "0.0.0.0", hostPort: 22, containerPort: 22, protocol: "tcp" as const };
  const tcp = (name: string, port: number) => ingress("shop", name, { tcp: { port } });
  it.runtime.occupyPort(binding, true);
  const taken = [400, expect.stringContaining("spec.tcp.port: port 22 is in use by another program; use another port")];
  expect(await apply(tcp("db", 22))).toEqual(taken as never);
  const { status, text } = await ask("POST /apply?dry_run=true", [tcp("db", 22)]);
  expect([status, text]).toEqual(taken as never);
  expect((await apply(tcp("db", 23)))[0]).toBe(200);
  // HAProxy itself listens there by now.
  it.runtime.occupyPort({ ...binding, hostPort: 23 }, true);
  expect((await apply(ingress("shop", "db", { tcp: { port: 23 }, service: "other" })))[0]).toBe(200);
  it.runtime.engineDown();
  expect((await apply(tcp("more", 24)))[0]).toBe(200);
});

test("an ingress that leads to what is not there is warned of, and not one whose app comes with it", async () => {
  const warned = async (...manifests: object[]) => {
    const { data } = await ask("POST /apply", manifests);
    return (data as { warnings?: string[] }).warnings ?? [];
  };
  const text =
    "ingress/shop/door: service: there is no deployment or statefulset shop/wbe: visitors get 503 until it is applied";
  expect(await warned(ingress("shop", "door", { host: "door.test", service: "wbe" }))).toContain(text);
  const late = [ingress("shop", "late", { host: "late.test" }), deployment("shop", "late", { env_from: ["more"] })];
  const more = deployment("shop", "more");
  const planned = JSON.stringify((await ask("POST /apply?dry_run=true", [...late, more])).data);
  expect(planned).not.toMatch(/there is no deployment|nothing is called/);
  expect(JSON.stringify((await ask("POST /apply?dry_run=true", late)).data)).toContain("nothing is called shop/more");
  expect(JSON.stringify(await warned(...late))).not.toContain("there is no deployment");
});
