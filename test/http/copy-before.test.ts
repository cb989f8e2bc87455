import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { theServer } from "../../src/access/principal.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import { deployment, fixtureImage, statefulset } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

const [older, newer] = [fixtureImage, "berth-fixture:2"];

let it: World;
let ask: Ask;
/** Each copy that was asked for, with the image that was stored then. */
let copies: string[];
let failing: string | undefined;
/** What goes on while a copy is made; `long`: it ends with the server. */
let meanwhile: () => Promise<unknown>;
let end: () => void;
const long = () => new Promise<void>((resolve) => (end = resolve));
beforeEach(async () => {
  [copies, failing] = [[], undefined];
  [meanwhile, end] = [async () => undefined, () => undefined];
  it = await world({
    plugins: (layout) => testPlugins(layout),
    limits: { reconcileWorkers: 1 },
    async copyBefore({ kind, scope, name, plugin = "none" }) {
      copies.push(`${plugin} ${scope}/${name} ${it.store.manifests.get({ kind, scope, name })?.spec.image}`);
      await meanwhile();
      if (failing !== undefined) throw new Failure("conflict", failing);
    },
  });
  it.runtime.addImage(newer);
  ask = plane(it);
});
afterEach(() => {
  end();
  return it.close();
});

const database = (image: string, fields: Record<string, unknown> = {}) =>
  statefulset("data", "main", {
    ...{ image, replicas: 1, backup: {}, volume_claims: [{ name: "data", mount_path: "/data" }] },
    ...fields,
  });
const image = () => it.store.manifests.get({ kind: "statefulset", scope: "data", name: "main" })?.spec.image;

async function runs(spec: ReturnType<typeof database>): Promise<string> {
  await it.apply(spec);
  await it.settle();
  copies = [];
  const at = new Date(it.clock.now()).toISOString();
  await it.advance(60_000);
  return at;
}

/** Every way in which a caller changes what is stored. */
const doors: Record<string, (at: string) => [string, unknown?]> = {
  "an apply": () => ["POST /apply?", database(older)],
  "going back to earlier manifests": (at) => [`POST /history/restore?scope=data&at=${at}`],
  "a rollback": () => ["POST /rollback?scope=data&name=main&kind=statefulset"],
};

describe.each(Object.keys(doors))("%s that changes the image of a database", (name) => {
  test("copies it before, and changes nothing where that fails", async () => {
    const at = await runs(database(older));
    await it.apply(database(newer));
    await it.settle();
    expect(copies).toEqual([`none data/main ${older}`]);
    copies = [];
    const [request, body] = doors[name]?.(at) ?? [""];
    failing = "the target is away";
    const refused = await ask(request, body);
    expect([refused.status, image(), copies]).toEqual([409, newer, [`none data/main ${newer}`]]);
    expect(refused.error).toBe(
      "no backup of data/main, so nothing was changed: the target is away; to change its image all the same: --no-backup (in the API no_backup=true)",
    );
    const dry = await ask(`${request}&dry_run=true`, body);
    expect([dry.status, copies.length]).toEqual([200, 1]);
    const forced = await ask(`${request}&no_backup=true`, body);
    expect([forced.status, image(), copies.length]).toEqual([200, older, 1]);
  });
});

test("a block of a database is backed up by its plugin, with or without the field backup", async () => {
  const child = (of: string) => statefulset("data", "main", { image: of, replicas: 1 });
  const make = (of: string) =>
    writePlugin(it.layout, "redis", {
      yml: 'name: redis\nversion: "1"\n',
      commands: { expand: printing({ status: "ok", data: [child(of)] }) },
    });
  const block = (size: number) => ask("POST /apply", { kind: "redis", scope: "data", name: "main", spec: { size } });
  make(older);
  expect((await block(1)).status).toBe(200);
  await it.settle();
  make(newer);
  failing = "no pod runs";
  expect([(await block(2)).status, image()]).toEqual([409, older]);
  failing = undefined;
  expect([(await block(2)).status, image()]).toEqual([200, newer]);
  expect(copies).toEqual([`redis data/main ${older}`, `redis data/main ${older}`]);
});

test("an apply that is refused anyway copies nothing, nor one that leaves the image, nor one of a database that never ran", async () => {
  await it.apply(database("berth-fixture:missing"));
  await it.advance(1_000);
  await it.apply(database(older));
  await it.settle();
  await it.apply(database(older, { env: { A: "1" } }));
  await it.settle();
  const two = deployment("shop", "two", { image: older, docker_options: ["--privileged=maybe"] });
  const body = [database(newer), two];
  expect((await ask("POST /apply", body)).status).toBe(400);
  const stale = { ...database(newer), metadata: { if_revision: 99 } };
  expect((await ask("POST /apply", stale)).status).toBe(409);
  await it.apply(deployment("shop", "web", { image: older, volumes: ["files:/files"], backup: {} }));
  await it.settle();
  await it.apply(deployment("shop", "web", { image: newer, volumes: ["files:/files"], backup: {} }));
  expect(copies).toEqual([]);
});

test("a restart that pulls another image copies before, and changes nothing where that fails", async () => {
  await runs(database(older));
  it.runtime.addRemoteImage(older, { id: "sha256:two" });
  const again = "POST /restart?scope=data&name=main&kind=statefulset&pull=true&wait=false";
  const pinned = () => it.store.images.pinOf({ kind: "statefulset", scope: "data", name: "main" })?.imageId;
  failing = "the target is away";
  expect((await ask(again)).status).toBe(409);
  expect([copies.length, pinned() === "sha256:two"]).toEqual([1, false]);
  failing = undefined;
  expect((await ask(again)).status).toBe(202);
  await it.settle();
  expect([copies.length, pinned()]).toEqual([2, "sha256:two"]);
  it.runtime.addRemoteImage(older, { id: "sha256:three" });
  expect((await ask(`${again}&no_backup=true`)).status).toBe(202);
  await it.settle();
  expect([copies.length, pinned()]).toEqual([2, "sha256:three"]);
});

test("the plan says that a copy is made", async () => {
  await runs(database(older));
  const { plan } = await it.apply(database(newer), { dryRun: true });
  expect(plan?.[0]?.notes).toContain("a backup is made before its image changes; if that fails, nothing is changed");
  const without = await ask("POST /apply?dry_run=true&no_backup=true", database(newer));
  expect(JSON.stringify(without)).toContain("no backup is made before its image changes, as --no-backup says");
});

test("an apply that puts all back copies a database that ran on the newer image", async () => {
  await runs(database(older));
  const bad = deployment("shop", "web", { image: "berth-fixture:missing" });
  await it.apply([database(newer), bad], { atomic: true });
  await it.settle(3_600_000).catch(() => undefined);
  expect(image()).toBe(older);
  expect(copies).toEqual([`none data/main ${older}`, `none data/main ${newer}`]);
});

test("an abort that gets no copy says how to go back without one", async () => {
  await runs(database(older));
  await it.apply(database(newer, { rollout: { min_ready: "1h", progress_deadline: "2h" } }));
  await it.advance(60_000);
  failing = "the target is away";
  const refused = await ask("POST /rollouts/abort?scope=data&name=main&kind=statefulset");
  expect(refused.status).toBe(409);
  expect(refused.error).toBe(
    "no backup of data/main, so nothing was changed: the target is away; to go back without one: berth rollback data/main --no-backup",
  );
  const back = await ask("POST /rollback?scope=data&name=main&kind=statefulset&no_backup=true");
  expect([back.status, image()]).toEqual([200, older]);
});

test("the copy before a failed release goes back holds up nothing else, and does not hold it up for ever", async () => {
  await runs(database(older));
  await it.apply(database(newer, { rollout: { min_ready: "1h", progress_deadline: "1m" } }));
  meanwhile = long;
  await it.advance(120_000);
  expect([copies.length, image()]).toEqual([2, newer]);
  await it.apply(deployment("shop", "web", { image: older }));
  await it.advance(5_000);
  expect((await it.status("deployment", "shop", "web")).phase).toBe("ready");
  await it.advance(it.limits.returnCopyMs);
  await it.settle();
  expect([copies.length, image()]).toEqual([2, older]);
});

test("what somebody applies while an atomic apply copies before it goes back stays", async () => {
  await runs(database(older));
  await it.apply([database(newer), deployment("shop", "web", { image: "berth-fixture:missing" })], { atomic: true });
  await it.settle(1_000).catch(() => undefined);
  meanwhile = async () => {
    if (copies.length === 2) await it.apply(database(newer, { env: { A: "1" } }));
  };
  await it.settle(3_600_000).catch(() => undefined);
  expect([copies.length, image()]).toEqual([2, newer]);
  expect(it.store.manifests.get({ kind: "deployment", scope: "shop", name: "web" })).toBeUndefined();
});

test("an atomic apply that copies before it goes back holds up no other", async () => {
  await runs(database(older));
  const bad = (name: string) => deployment("shop", name, { image: "berth-fixture:missing" });
  await it.apply([database(newer), bad("one")], { atomic: true });
  await it.advance(1_000);
  await it.apply([deployment("shop", "two", { image: older }), bad("three")], { atomic: true });
  meanwhile = long;
  await it.advance(3_600_000);
  expect(copies.length).toBe(2);
  expect(it.store.manifests.get({ kind: "deployment", scope: "shop", name: "two" })).toBeUndefined();
});

test("a caller that has left before the copy begins gets none", async () => {
  await runs(database(older));
  const options = { dryRun: false, prune: false, actor: "test", by: theServer, left: AbortSignal.abort() };
  await expect(it.controller.apply(database(newer), options)).rejects.toThrow("the caller has left");
  expect([copies, image()]).toEqual([[], older]);
});

test("what a lock refuses anyway copies nothing", async () => {
  const at = await runs(database(older));
  await it.apply(database(newer, { rollout: { min_ready: "1h", progress_deadline: "2h" } }));
  await it.advance(60_000);
  copies = [];
  expect((await ask("POST /locks?scope=data&name=main&reason=maintenance")).status).toBe(200);
  it.runtime.addRemoteImage(newer);
  const asked = [
    ...Object.values(doors).map((door) => door(at)),
    ["POST /rollouts/abort?scope=data&name=main&kind=statefulset"],
    ["POST /restart?scope=data&name=main&kind=statefulset&pull=true&wait=false"],
  ] as [string, unknown?][];
  for (const [request, body] of asked) expect([request, (await ask(request, body)).status]).toEqual([request, 409]);
  expect(copies).toEqual([]);
});
