import { Elysia } from "elysia";
import { expect, test } from "bun:test";
import { createTrafficRoom, type RequestFilter } from "../../../src/observability/service/traffic/create.ts";
import type { Platform } from "../../../src/observability/service/platform.ts";
import { createClient } from "../../../src/base/wire/client.ts";
import type { Grant } from "../../../src/observability/core/tokens/grant.ts";

const site = (ingress: string, target: string, host: string) => ({ ingress, target, hosts: [host] });
const entry = (seq: number, ingress: string, more: object) => ({
  ...{ seq, ingress, time: "t", client: "192.0.2.1", method: "GET", host: "a.test", path: "/" },
  ...{ status: 200, bytes_in: 0, bytes_out: 0, ms: 5, held_ms: 0, retries: 0, request_id: `r${seq}`, ...more },
});
const renewed: string[] = [];
const ok = (data: unknown) => ({ status: "ok", data });

/** The ingress' routes of the orchestration plane, with answers of the test. */
const orchestration = new Elysia({ handler: { standardHostname: false } })
  .get("/ingress", () =>
    ok({
      proxy: { state: "running" },
      sites: [site("shop/web", "shop/web", "a.test"), site("back/in", "back/api", "b.test")],
    }),
  )
  .get("/ingress/traffic", () => ok({ seconds: 60, sites: [{ ingress: "shop/web", requests: 7 }], dropped: 0 }))
  .get("/certificates", () =>
    ok({
      certificates: [
        { id: "b.test", names: ["b.test"], not_after: "2026-02-01T00:00:00Z" },
        { id: "a.test", names: ["a.test"], not_after: "2026-01-01T00:00:00Z" },
      ],
    }),
  )
  .post("/certificates/:name/renew", ({ params }) => {
    renewed.push(params.name);
    return ok({ certificates: [] });
  })
  .get("/ingress/logs", () =>
    ok({
      entries: [
        entry(1, "shop/web", { path: "/cart", method: "POST", status: 503, ms: 900 }),
        entry(2, "back/in", { host: "b.test", status: 404 }),
        entry(3, "shop/web", { status: undefined }),
      ],
    }),
  );

const platform = {
  as: () =>
    createClient({
      baseUrl: "http://localhost",
      fetch: async (url, init) => orchestration.handle(new Request(url, init)),
    }),
} as unknown as Platform;
const room = createTrafficRoom({ platform });
const grant = (apps: string[]): Grant => ({ id: "a", name: undefined, scopes: ["read"], apps, expiresAt: undefined });
const none: RequestFilter = {
  ...{ app: undefined, host: undefined, path: undefined, method: undefined, status: undefined },
  ...{ slowerThanMs: undefined, requestId: undefined, failed: false, limit: 100, before: undefined },
};

test("sites come with their traffic, as far as the token may see them or what they lead to", async () => {
  const all = await room.sites(grant([]));
  expect(all.sites.map(({ ingress, traffic }) => [ingress, traffic?.requests])).toEqual([
    ["shop/web", 7],
    ["back/in", undefined],
  ]);
  expect((await room.sites(grant(["back/api"]))).sites.map(({ ingress }) => ingress)).toEqual(["back/in"]);
});

test("certificates: those that expire first first, of reachable hosts; others cannot be renewed", async () => {
  expect((await room.certificates(grant([]))).map(({ id }) => id)).toEqual(["a.test", "b.test"]);
  const shop = grant(["shop"]);
  expect((await room.certificates(shop)).map(({ id }) => id)).toEqual(["a.test"]);
  await room.renew({ grant: shop, actor: "pat:a" }, "a.test");
  expect(room.renew({ grant: shop, actor: "pat:a" }, "b.test")).rejects.toThrow('no certificate of "b.test"');
  expect(renewed).toEqual(["a.test"]);
});

test.each([
  [{}, [3, 2, 1]],
  [{ app: "shop" }, [3, 1]],
  [{ host: "b.test" }, [2]],
  [{ path: "/c", method: "post" }, [1]],
  [{ status: "4xx" }, [2]],
  [{ status: "503" }, [1]],
  [{ slowerThanMs: 500 }, [1]],
  [{ failed: true }, [3, 1]],
  [{ requestId: "r2" }, [2]],
] as [Partial<RequestFilter>, number[]][])("requests of %j", async (filter, wanted) => {
  const { requests } = await room.requests(grant([]), { ...none, ...filter });
  expect(requests.map(({ seq }) => seq)).toEqual(wanted);
});

test("requests of other apps do not exist for a token of some", async () => {
  const { requests } = await room.requests(grant(["back"]), none);
  expect(requests).toMatchObject([{ seq: 2, app: "back/api" }]);
});
