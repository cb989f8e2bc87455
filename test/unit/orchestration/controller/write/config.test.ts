import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, statefulset } from "../../../../support/manifests.ts";
import { rowsOf } from "../../../../support/rows.ts";
import { type World, world } from "../../../../support/world.ts";

const secret = "hunter2-c0rrect-horse";
let it: World;
beforeEach(async () => {
  it = await world({ limits: { configKeysMax: 3, configValueBytesMax: 100 } });
  await it.apply([
    deployment("shop", "web"),
    statefulset("shop", "db"),
    deployment("shop", "borrower", { env_from: ["db", "blog/front"] }),
    deployment("blog", "front"),
    { kind: "job", scope: "shop", name: "tidy", spec: { image: "berth-fixture:1" } },
  ]);
  await it.settle();
});
afterEach(() => it.close());

const set = (scope: string | undefined, name: string | undefined, vars: unknown, restart = true) =>
  it.controller.setConfig({ scope, name }, vars, { restart, actor: "ana" });
const unset = (scope: string, name: string | undefined, key: string | undefined, restart = true) =>
  it.controller.unsetConfig({ scope, name, key }, { restart, actor: "ana" });
const get = (scope: string | undefined, name?: string, more: { key?: string; merge?: boolean } = {}) =>
  it.controller.getConfig({ scope, name, key: more.key, merge: more.merge ?? true });
const envOf = (app: string) => it.runtime.containers().find(({ name }) => name.startsWith(`${app}.`))?.env;

/** Apps whose containers are others after `change`. */
async function rolledBy(change: () => Promise<unknown>): Promise<string[]> {
  const before = new Set(it.runtime.containers().map(({ id }) => id));
  await change();
  await it.settle();
  const fresh = it.runtime.containers().filter(({ id }) => !before.has(id));
  return fresh.map(({ name }) => name.replace(/\..*/, "")).sort();
}

describe("reading a bucket", () => {
  beforeEach(async () => {
    await set("shop", undefined, { A: "scope", B: "scope" }, false);
    await set("shop", "web", { B: "app", C: "app" }, false);
  });

  test("shows one level, or both with the app on top", () => {
    expect(get("shop")).toEqual({ vars: { A: "scope", B: "scope" } });
    expect(get("shop", "web")).toEqual({ vars: { A: "scope", B: "app", C: "app" } });
    expect(get("shop", "web", { merge: false })).toEqual({ vars: { B: "app", C: "app" } });
  });

  test("shows one key, in the merged view unless told otherwise", async () => {
    expect(get("shop", "web", { key: "A" })).toEqual({ A: "scope" });
    expect(get("shop", undefined, { key: "B" })).toEqual({ B: "scope" });
    for (const lookup of [
      () => get("shop", "web", { key: "A", merge: false }),
      () => get("shop", "web", { key: "NOPE" }),
      () => get("shop", "web", { key: "__proto__" }),
      () => get("shop", "web", { key: "toString" }),
    ]) {
      const error = await expectFailure((async () => lookup())(), "not_found");
      expect(error.message).toMatch(/^key ".*" is not set; (?:did you mean|see: berth config list shop\/web)/);
    }
  });

  test("of an unknown scope is empty, and needs a scope", async () => {
    expect(get("nowhere")).toEqual({ vars: {} });
    expect(get("shop", "nobody", { merge: false })).toEqual({ vars: {} });
    const error = await expectFailure((async () => get(undefined))(), "invalid");
    expect(error.message).toBe("scope is required");
  });
});

describe("writing a bucket", () => {
  test("rolls the app, and whoever borrows its bucket", async () => {
    expect(await rolledBy(() => set("shop", "db", { A: "1" }))).toEqual(["shop-borrower", "shop-db"]);
    expect([envOf("shop-db")?.A, envOf("shop-borrower")?.A, envOf("shop-web")?.A]).toEqual(["1", "1", undefined]);
  });

  test("of a dry run says the same, and stores and rolls nothing", async () => {
    const ask = { restart: true, actor: "ana" };
    const bucket = { scope: "shop", name: "db" };
    const events = it.events("config.set").length;
    let dry: unknown;
    const roll = async () => {
      dry = await it.controller.setConfig(bucket, { A: "1" }, { ...ask, dryRun: true });
    };
    expect(await rolledBy(roll)).toEqual([]);
    expect([get("shop", "db"), it.events("config.set").length]).toEqual([{ vars: {} }, events]);
    expect(await it.controller.setConfig(bucket, { A: "1" }, ask)).toEqual(dry as never);
    await it.settle();
    await it.controller.unsetConfig({ ...bucket, key: "A" }, { ...ask, dryRun: true });
    expect(get("shop", "db")).toEqual({ vars: { A: "1" } });
  });

  test("of a scope rolls everybody in it, and borrowers elsewhere", async () => {
    expect(await rolledBy(() => set("blog", undefined, { A: "1" }))).toEqual(["blog-front", "shop-borrower"]);
    expect(await rolledBy(() => set("shop", undefined, { A: "2" }))).toEqual(["shop-borrower", "shop-db", "shop-web"]);
    expect([envOf("blog-front")?.A, envOf("shop-borrower")?.A]).toEqual(["1", "2"]);
  });

  test("says what changed and who restarts, jobs aside", async () => {
    expect(await set("shop", undefined, { A: "1", B: "2" })).toEqual({
      changed: ["A", "B"],
      restarting: ["deployment/shop/borrower", "deployment/shop/web", "statefulset/shop/db"],
    });
    expect(await set("shop", undefined, { A: "1", B: "3" })).toMatchObject({ changed: ["B"] });
  });

  test("of values that are there already restarts nobody and leaves no event", async () => {
    await set("shop", "web", { A: "1" });
    await it.settle();
    const events = it.events().length;
    expect(await rolledBy(() => set("shop", "web", { A: "1", ABSENT: "" }))).toEqual([]);
    expect(it.events()).toHaveLength(events);
    expect(await set("shop", "web", { A: "1" })).toEqual({ changed: [], restarting: [] });
  });

  test("without restart leaves running containers alone, and new ones get it", async () => {
    expect(await rolledBy(() => set("shop", "web", { A: "1" }, false))).toEqual([]);
    expect(envOf("shop-web")?.A).toBeUndefined();
    await it.restart();
    await it.advance(11 * 60_000);
    expect(envOf("shop-web")?.A).toBeUndefined();
    const [name = ""] = it.containers().filter((at) => at.startsWith("shop-web."));
    it.runtime.removeByHand(name);
    await it.settle();
    expect(envOf("shop-web")?.A).toBe("1");
  });

  describe("again, with restart, what was set without", () => {
    const restarts = (answer: { restarting: string[] }) => answer.restarting;

    test("restarts who does not have it, once", async () => {
      await it.advance(2_000);
      await set("shop", "db", { A: "1" }, false);
      const both = ["statefulset/shop/db", "deployment/shop/borrower"];
      expect(await set("shop", "db", { A: "1" })).toEqual({ changed: [], restarting: both });
      await it.settle();
      expect([envOf("shop-db")?.A, envOf("shop-borrower")?.A]).toEqual(["1", "1"]);
      expect(restarts(await set("shop", "db", { A: "1" }))).toEqual([]);
    });

    test("also after a restart of the server, and for a key that was unset", async () => {
      await set("shop", "web", { A: "1" });
      await it.settle();
      await unset("shop", "web", "A", false);
      await it.restart();
      expect(restarts(await unset("shop", "web", "A"))).toEqual(["deployment/shop/web"]);
      await it.settle();
      expect(envOf("shop-web")?.A).toBeUndefined();
    });

    test("leaves alone who was made anew since, and changes of other keys", async () => {
      await it.advance(2_000);
      await set("shop", "web", { A: "1" }, false);
      expect(restarts(await set("shop", "web", { B: "" }))).toEqual([]);
      await it.advance(2_000);
      await it.controller.restart({ kind: "deployment", scope: "shop", name: "web" }, { wait: false, actor: "ana" });
      await it.settle();
      expect(envOf("shop-web")?.A).toBe("1");
      expect(restarts(await set("shop", "web", { A: "1" }))).toEqual([]);
    });
  });

  test("an empty value unsets, an absent key is fine", async () => {
    await set("shop", "web", { A: "1", B: "2" });
    expect(await set("shop", "web", { A: "" })).toMatchObject({ changed: ["A"] });
    expect(await unset("shop", "web", "B")).toEqual({ changed: ["B"], restarting: ["deployment/shop/web"] });
    expect(await unset("shop", "web", "B")).toEqual({ changed: [], restarting: [] });
    expect(get("shop", "web")).toEqual({ vars: {} });
    await it.settle();
    expect(envOf("shop-web")?.A).toBeUndefined();
  });

  test("unsetting without restart waits for the next container", async () => {
    await set("shop", "web", { A: "1" });
    await it.settle();
    expect(await rolledBy(() => unset("shop", "web", "A", false))).toEqual([]);
    expect(envOf("shop-web")?.A).toBe("1");
  });

  test("manifest env wins over it, and later borrowed buckets over earlier ones", async () => {
    await it.apply(deployment("shop", "web", { env: { A: "manifest" } }));
    await set("shop", "web", { A: "config" });
    await set("shop", "db", { X: "first" });
    await set("blog", "front", { X: "second" });
    await it.settle();
    expect([envOf("shop-web")?.A, envOf("shop-borrower")?.X]).toEqual(["manifest", "second"]);
  });

  test("values keep newlines and quotes as they are", async () => {
    const odd = 'two\nlines "quoted" $HOME \\';
    await set("shop", "web", { A: odd });
    await it.settle();
    expect(envOf("shop-web")?.A).toBe(odd);
  });
});

describe("a write that is refused", () => {
  test.each([
    ["no scope", undefined, "web", { A: "1" }, "scope is required"],
    ["a bad scope", "Shop", "web", { A: "1" }, 'scope: "Shop" is not a scope'],
    ["a bad name", "shop", "../x", { A: "1" }, 'name: "../x" is not a name'],
    ["no body", "shop", "web", null, "expected an object"],
    ["a list", "shop", "web", ["A"], "expected an object"],
    ["no keys", "shop", "web", {}, "no keys given"],
    ["a number", "shop", "web", { A: 1 }, "A: expected string, got number"],
    ["a key with a dash", "shop", "web", { "A-B": "1" }, "A-B: a key is letters"],
    ["a key with a newline", "shop", "web", { "A\nB": "1" }, "a key is letters"],
    ["an over-long key", "shop", "web", { ["A".repeat(129)]: "1" }, "a key is letters"],
    ["__proto__", "shop", "web", JSON.parse('{"__proto__":"1"}'), "a key is letters"],
    ["a NUL", "shop", "web", { A: "a\0b" }, "A: a value cannot hold a NUL"],
    ["half of a surrogate pair", "shop", "web", { A: "\ud800" }, "A: is not valid Unicode"],
    ["an over-long value", "shop", "web", { A: "ä".repeat(51) }, "A: longer than 100 bytes"],
    ["too many keys", "shop", "web", { A: "1", B: "1", C: "1", D: "1" }, "the bucket would hold 4 keys"],
  ])("%s", async (_what, scope, name, vars, text) => {
    const rows = rowsOf(it);
    const error = await expectFailure(set(scope, name, vars), "invalid");
    expect(error.message).toContain(text);
    expect(rowsOf(it)).toEqual(rows);
  });

  test("writes none of the good keys beside the bad one", async () => {
    await expectFailure(set("shop", "web", { GOOD: "1", "bad-key": "1" }), "invalid");
    expect(get("shop", "web")).toEqual({ vars: {} });
  });

  test("unsetting needs scope and key", async () => {
    expect((await expectFailure(unset("shop", "web", undefined), "invalid")).message).toBe("key is required");
    expect((await expectFailure(unset("", "web", "A"), "invalid")).message).toBe("scope is required");
  });
});

test("values never show but where they are asked for", async () => {
  await set("shop", "web", { PASSWORD: secret });
  await set("shop", undefined, { OTHER: secret }, false);
  await it.settle();
  await it.controller.restart({ name: "borrower" }, { wait: false, actor: "ana" });
  await it.settle();
  expect(envOf("shop-web")?.PASSWORD).toBe(secret);
  const names = it.containers();
  const shown = await Promise.all([
    it.describe("deployment", "shop", "web"),
    it.controller.listPods({}, { detail: true, spec: true }),
    ...names.map((name) => it.controller.getPod(name, { spec: true })),
    it.apply(deployment("shop", "web", { replicas: 3 }), { dryRun: true }),
    it.controller.system(),
    it.controller.events({ limit: 1_000 }),
  ]);
  const [, pods] = shown;
  expect(JSON.stringify(pods)).toContain("PASSWORD");
  expect(JSON.stringify(shown)).not.toContain(secret);
  expect(JSON.stringify(rowsOf(it))).not.toContain(secret);
  expect(it.logged.join("")).not.toContain(secret);
  expect(it.events("config.set")[0]).toMatchObject({
    actor: "ana",
    scope: "shop",
    name: "web",
    detail: { keys: ["PASSWORD"], restart: true },
  });
  expect(get("shop", "web", { key: "PASSWORD" })).toEqual({ PASSWORD: secret });
});

test("a key that a manifest sets too is named, as it has no effect there", async () => {
  await it.apply([deployment("shop", "web", { env: { A: "1", B: "2" } })]);
  const { notes } = await set("shop", undefined, { A: "x", B: "y", C: "z" });
  expect(notes).toEqual(["deployment/shop/web: env of its manifest sets A, B too, and wins"]);
  expect((await set("shop", "web", { C: "z" })).notes).toBeUndefined();
  expect((await set("shop", undefined, { A: "" })).notes).toBeUndefined();
});
