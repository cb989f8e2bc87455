import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { formatKey } from "../../src/orchestration/api/manifest.ts";
import { deployment, fixtureImage, statefulset } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout) });
  ask = plane(it);
});
afterEach(() => it.close());

const iso = () => new Date(it.clock.now()).toISOString();
/** A time at which all was wanted that is stored now; what follows is later. */
async function mark(): Promise<string> {
  const time = iso();
  await it.advance(60_000);
  return time;
}
const asset = (text: string) => ({ kind: "asset", scope: "shop", name: "page", spec: { files: { index: text } } });
const web = (env: Record<string, string>) =>
  deployment("shop", "web", { env, replicas: 1, volumes: ["${asset.page.index}:/index"] });
/** What is wanted, as it is stored. */
const stored = () =>
  [...it.store.manifests.list(), ...it.store.blocks.list()].map(({ spec, ...key }) => ({ ref: formatKey(key), spec }));
const restore = (query: string) => ask(`POST /history/restore?${query}`);
const changes = async (query = "") => {
  const { data } = await ask(`GET /history${query}`);
  return (data.changes as Record<string, unknown>[]).map((one) => {
    const ref = [one.kind, one.scope, one.name].filter(Boolean).join("/");
    return `${one.actor} ${one.cause} ${one.outcome} ${ref}`;
  });
};

test("the newest state of the history is what is stored, whatever changed it", async () => {
  const same = () => {
    const known = it.store.history.at(it.clock.now(), {}).map(({ spec, ...key }) => ({ ref: formatKey(key), spec }));
    const byRef = (a: { ref: string }, b: { ref: string }) => a.ref.localeCompare(b.ref);
    expect(known.sort(byRef)).toEqual(stored().sort(byRef));
  };
  writePlugin(it.layout, "db", {
    yml: 'name: db\nversion: "1"\n',
    commands: { expand: printing({ status: "ok", data: [{ ...statefulset("data", "main", { replicas: 1 }) }] }) },
  });
  await it.apply([asset("one"), web({ A: "1" }), deployment("shop", "other", {})]);
  await it.settle();
  same();
  await it.apply(web({ A: "2" }), { message: "two" });
  await it.settle();
  await ask("POST /scale?scope=shop&name=web&replicas=2");
  same();
  await ask("POST /rollback?scope=shop&name=web");
  await it.settle();
  same();
  await it.apply(asset("two"));
  same();
  await ask("POST /apply", { kind: "db", scope: "data", name: "main", spec: { size: 1 } });
  same();
  await it.apply(deployment("shop", "web", {}), { prune: true });
  same();
  await ask("DELETE /apply?kind=db&scope=data&name=main");
  same();
  await ask("DELETE /scope?scope=shop");
  same();
  expect(await changes("?scope=shop&name=web")).toEqual([
    "operator delete deleted deployment/shop/web",
    "test apply changed deployment/shop/web",
    "test asset changed deployment/shop/web",
    "operator rollback changed deployment/shop/web",
    "operator scale changed deployment/shop/web",
    "test apply changed deployment/shop/web",
    "test apply created deployment/shop/web",
  ]);
  const { data } = await ask("GET /history?scope=shop&name=web&limit=1&kind=deployments&before=5");
  expect(data.changes).toMatchObject([{ changed: ["env.A"], why: "two" }]);
});

describe("a restore", () => {
  test("creates, changes and deletes in one apply; the plan says so and writes nothing", async () => {
    await it.apply([asset("one"), web({ A: "1" }), deployment("shop", "gone", {}), deployment("lab", "x", {})]);
    await it.settle();
    const before = stored();
    const then = await mark();
    await ask("DELETE /apply?kind=deployment&scope=shop&name=gone");
    await it.apply([
      asset("two"),
      web({ A: "2" }),
      deployment("shop", "new", {}),
      deployment("lab", "x", { env: { B: "1" } }),
    ]);
    await it.settle();
    const since = stored();
    const plan = await restore(`at=${then}&scope=shop&dry_run=true`);
    const rows = plan.data.plan as { ref: string; action: string }[];
    expect(rows.map(({ ref, action }) => `${action} ${ref}`).sort()).toEqual([
      ...["create deployment/shop/gone", "delete deployment/shop/new", "update asset/shop/page"],
      "update deployment/shop/web",
    ]);
    expect(stored()).toEqual(since);
    await it.advance(1_000);
    const { status, data } = await restore(`at=${then}&scope=shop&expect=${plan.data.newest}`);
    expect({ status, pruned: data.pruned }).toEqual({ status: 200, pruned: ["deployment/shop/new"] });
    expect(JSON.stringify(data.warnings)).toContain("config and the data of volumes stay");
    const notLab = ({ ref }: { ref: string }) => !ref.includes("/lab/");
    expect(stored().filter(notLab)).toEqual(before.filter(notLab));
    expect(it.store.manifests.get({ kind: "deployment", scope: "lab", name: "x" })?.spec.env).toEqual({ B: "1" });
    const made = await changes("?scope=shop&limit=4");
    expect(made.every((row) => row.startsWith("operator restore "))).toBe(true);
    await it.settle();
    expect((await restore(`at=${then}&scope=shop`)).data).toMatchObject({ applied: [], pruned: [] });
    await restore(`at=${then}&scope=shop&name=web`);
  });

  test("is refused as a whole where a change came in between, and where something is locked", async () => {
    await it.apply([asset("one"), web({ A: "1" })]);
    const then = await mark();
    await it.apply(web({ A: "2" }));
    const { newest } = (await restore(`at=${then}&dry_run=true`)).data;
    await it.apply(deployment("shop", "other", {}));
    const before = stored();
    expect(await restore(`at=${then}&expect=${newest}`)).toMatchObject({ status: 409 });
    await ask("POST /locks?scope=shop&reason=closed");
    expect((await restore(`at=${then}`)).error).toContain("closed");
    expect(stored()).toEqual(before);
  });

  test("only deletes where nothing else was wanted", async () => {
    await it.apply(deployment("lab", "x", {}));
    const then = await mark();
    await it.apply(deployment("shop", "new", {}));
    expect((await restore(`at=${then}`)).data).toMatchObject({ applied: [], pruned: ["deployment/shop/new"] });
    expect(stored().map(({ ref }) => ref)).toEqual(["deployment/lab/x"]);
  });

  test("a block of a plugin comes back as a block, and what it made goes with it", async () => {
    const set = { kind: "statefulset", name: "main", spec: { image: fixtureImage, command: ["sleep", "9"] } };
    writePlugin(it.layout, "db", {
      yml: 'name: db\nversion: "1"\n',
      commands: { expand: printing({ status: "ok", data: [set] }) },
    });
    await ask("POST /apply", { kind: "db", scope: "data", name: "main", spec: { size: 1, password: "hunter2" } });
    const before = stored();
    const then = await mark();
    await ask("DELETE /apply?kind=db&scope=data&name=main");
    await it.settle();
    const gone = await mark();
    const state = await ask(`GET /history/state?at=${then}`);
    expect(JSON.stringify(state.data.manifests)).not.toContain("hunter2");
    expect((await restore(`at=${then}`)).data).toMatchObject({
      plugin_expansions: [{ from: "db/data/main", to: ["statefulset/data/main"] }],
    });
    expect(stored()).toEqual(before);
    await it.settle();
    expect((await restore(`at=${gone}`)).data.pruned).toEqual(["db/data/main", "statefulset/data/main"]);
    expect(stored()).toEqual([]);
  });
});

test("a time that the history does not know is answered with the range", async () => {
  expect((await ask("GET /history/state?at=2026-01-01T00:00:00Z")).error).toContain("nothing was ever applied");
  await it.apply(deployment("lab", "x", {}));
  const begins = iso();
  await it.advance(1_000);
  const range = `choose a time from ${begins} to ${iso()}`;
  const times: [string, string][] = [
    ["1999-01-01T00:00:00Z", `at: 1999-01-01T00:00:00.000Z is before the history begins; ${range}`],
    ["2999-01-01T00:00:00Z", `at: 2999-01-01T00:00:00.000Z is in the future; ${range}`],
    ["yesterday", 'at: "yesterday" is not a time'],
    ["2026-01-01T00:00:00", "with its zone"],
  ];
  for (const [time, text] of times) {
    for (const route of ["GET /history/state", "POST /history/restore"]) {
      const { status, error } = await ask(`${route}?at=${time}`);
      expect({ time, status }).toEqual({ time, status: 400 });
      expect(error).toContain(text);
    }
  }
  expect((await ask("GET /history")).data.begins).toBe(begins);
});
