import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../../support/world.ts";

let it: World;
/** Whether the port of the database is open. */
let isOpen: boolean;

beforeEach(async () => {
  isOpen = false;
  it = await world({ fetch: async () => new Response("", { status: isOpen ? 200 : 503 }) });
});
afterEach(() => it.close());

const minute = 60_000;
const probes = { readiness: { http_get: { path: "/", port: 80 }, period: "1s" } };
const db = (spec: Spec = {}) => statefulset("shop", "db", { probes, ...spec });
const web = (spec: Spec = {}) => deployment("shop", "web", { start_after: ["db"], ...spec });
const started = (app: string) => it.containers().filter((name) => name.startsWith(`shop-${app}.`)).length;
const condition = async () => {
  const { conditions } = await it.status("deployment", "shop", "web");
  return conditions.find(({ type }) => type === "Progressing")?.message;
};

describe("the first start of an app with start_after", () => {
  test("waits until the other has a ready replica, and why says for what and until when", async () => {
    await it.apply([web(), db()]);
    await it.advance(20_000);
    expect([started("db"), started("web")]).toEqual([1, 0]);
    const until = new Date(it.clock.now() - 20_000 + 5 * minute).toISOString();
    const text = `the first start waits for shop/db to be ready (start_after), until ${until} at the latest`;
    expect(await condition()).toContain(text);
    const { conditions } = await it.controller.why({ kind: "deployment", scope: "shop", name: "web" });
    expect(JSON.stringify(conditions)).toContain(text);
    isOpen = true;
    await it.settle();
    expect(started("web")).toBe(1);
    expect(it.store.releases.list(keyOf("deployment", "shop", "web"))).toMatchObject([{ status: "succeeded" }]);
  });

  test("waits only for the start of name:started", async () => {
    await it.apply([web({ start_after: ["db:started"] }), db()]);
    await it.advance(2_000);
    expect([started("db"), started("web")]).toEqual([1, 1]);
  });

  test("happens after five minutes, whatever the other does", async () => {
    await it.apply([web(), db()]);
    await it.advance(4 * minute);
    expect(started("web")).toBe(0);
    await it.advance(minute + 1_000);
    expect(started("web")).toBe(1);
  });

  test("does not wait for an app that is not stored, or that wants no replica", async () => {
    await it.apply(web());
    await it.settle();
    await it.apply([db({ replicas: 0 }), deployment("shop", "api", { start_after: ["db"] })]);
    await it.settle();
    expect([started("web"), started("api")]).toEqual([1, 1]);
  });

  test("waits before the commands of its first release", async () => {
    await it.apply([web({ release: { command: ["migrate"] } }), db()]);
    await it.advance(10_000);
    expect(it.containers().filter((name) => name.startsWith("shop-web"))).toEqual([]);
  });

  test("still waits after a restart of the server", async () => {
    await it.apply([web(), db()]);
    await it.advance(10_000);
    await it.crash();
    await it.advance(10_000);
    expect(started("web")).toBe(0);
    isOpen = true;
    await it.settle();
    expect(started("web")).toBe(1);
  });
});

describe("an app that has started once", () => {
  beforeEach(async () => {
    isOpen = true;
    await it.apply([web(), db()]);
    await it.settle();
    isOpen = false;
    await it.advance(10_000);
  });

  test("is replaced, restarted and scaled without waiting", async () => {
    await it.apply(web({ env: { A: "1" } }));
    await it.advance(5_000);
    expect(it.store.releases.list(keyOf("deployment", "shop", "web"))[0]).toMatchObject({ status: "succeeded" });
    await it.apply(web({ env: { A: "1" }, replicas: 0 }));
    await it.advance(5_000);
    await it.apply(web({ env: { A: "1" }, replicas: 2 }));
    await it.advance(5_000);
    expect(started("web")).toBe(2);
  });

  test("keeps its containers when start_after changes", async () => {
    const before = it.runtime.containers().map(({ id }) => id);
    await it.apply(web({ start_after: [] }));
    await it.advance(5_000);
    expect(it.runtime.containers().map(({ id }) => id)).toEqual(before);
  });
});

describe("apps that wait for each other", () => {
  test("are refused in one apply, and beside what is stored", async () => {
    const circle = '"db" waits for this app: web → db → web; remove one of these entries';
    const both = await expectFailure(it.apply([web(), db({ start_after: ["web"] })]), "invalid");
    expect(both.message).toContain(circle);
    await it.apply(db({ start_after: ["web"] }));
    const late = await expectFailure(it.apply(web()), "invalid");
    expect(late.message).toContain(circle);
    const own = await expectFailure(it.apply(web({ start_after: ["web"] })), "invalid");
    expect(own.message).toContain('"web" is this app itself; remove the entry');
  });
});
