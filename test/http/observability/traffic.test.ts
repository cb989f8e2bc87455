import { afterEach, beforeEach, expect, test } from "bun:test";
import type { IngressRoutes } from "../../../src/ingress/http/mount.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const site = (ingress: string, target: string, host: string) => ({ ingress, target, hosts: [host] });
const entry = (seq: number, ingress: string, more: object) => ({
  ...{ seq, ingress, time: "t", client: "192.0.2.1", method: "GET", host: "a.test", path: "/" },
  ...{ status: 200, bytes_in: 0, bytes_out: 0, ms: 5, held_ms: 0, retries: 0, request_id: `r${seq}`, ...more },
});
const certificates = [
  { id: "b.test", names: ["b.test"], not_after: "2026-02-01T00:00:00Z" },
  { id: "a.test", names: ["a.test"], not_after: "2026-01-01T00:00:00Z" },
];
const renewed: string[] = [];

const ingress = {
  certificates: {
    list: () => ({ certificates }),
    renew(name: string) {
      renewed.push(name);
      return { certificates: [] };
    },
  },
  views: {
    status: async () => ({
      proxy: { state: "running" },
      sites: [site("shop/web", "shop/web", "a.test"), site("back/in", "back/api", "b.test")],
    }),
    traffic: () => ({ seconds: 60, sites: [{ ingress: "shop/web", requests: 7 }], dropped: 0 }),
    access: async () => [
      entry(1, "shop/web", { path: "/cart", method: "POST", status: 503, ms: 900 }),
      entry(2, "back/in", { host: "b.test", status: 404 }),
      entry(3, "shop/web", { status: undefined }),
    ],
  },
} as unknown as IngressRoutes;

let it: PlaneWorld;
beforeEach(() => {
  renewed.length = 0;
  it = planeWorld({ ingress });
});
afterEach(() => it.close());

/** What a token gets that is limited to these apps. */
async function get(request: string, apps: string[] = []): Promise<Record<string, unknown>[]> {
  const { data } = await it.ask(request, { token: await it.token(["read", "actions"], { apps }) });
  return Object.values(data).find(Array.isArray) ?? [];
}

test("sites come with their traffic, as far as the token may see them or what they lead to", async () => {
  const all = await get("GET /ingress");
  expect(all.map((one) => [one.ingress, (one.traffic as { requests: number } | undefined)?.requests])).toEqual([
    ["shop/web", 7],
    ["back/in", undefined],
  ]);
  expect((await get("GET /ingress", ["back/api"])).map((one) => one.ingress)).toEqual(["back/in"]);
  const { data } = await it.manage("GET /ingress");
  expect((data.sites as object[]).some((one) => "traffic" in one)).toBe(false);
});

test("certificates: those that expire first first, of reachable hosts; others cannot be renewed", async () => {
  expect((await get("GET /certs")).map(({ id }) => id)).toEqual(["a.test", "b.test"]);
  expect((await get("GET /certs", ["shop"])).map(({ id }) => id)).toEqual(["a.test"]);
  const { data } = await it.manage("GET /certificates");
  expect((data.certificates as { id: string }[]).map(({ id }) => id)).toEqual(["b.test", "a.test"]);
  const token = await it.token(["actions"], { apps: ["shop"] });
  expect((await it.ask("POST /certs/a.test/renew", { token })).status).toBe(200);
  const refused = await it.ask("POST /certs/b.test/renew", { token });
  expect([refused.status, refused.error]).toEqual([404, 'no certificate of "b.test", or this token may not see it']);
  expect(renewed).toEqual(["a.test"]);
  await it.manage("POST /certificates/b.test/renew");
  expect(renewed).toEqual(["a.test", "b.test"]);
});

test.each([
  ["", [3, 2, 1]],
  ["?app=shop", [3, 1]],
  ["?host=b.test", [2]],
  ["?path=/c&method=post", [1]],
  ["?status=4xx", [2]],
  ["?status=503", [1]],
  ["?slower_than=500ms", [1]],
  ["?failed=true", [3, 1]],
  ["?request_id=r2", [2]],
])("requests of %j", async (filter, wanted) => {
  expect((await get(`GET /requests${filter}`)).map(({ seq }) => seq as number)).toEqual(wanted);
});

test("requests of other apps do not exist for a token of some", async () => {
  expect(await get("GET /requests", ["back"])).toMatchObject([{ seq: 2, app: "back/api" }]);
});
