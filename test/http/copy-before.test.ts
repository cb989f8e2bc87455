import { afterEach, beforeEach, describe, expect, test } from "bun:test";
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
beforeEach(async () => {
  [copies, failing] = [[], undefined];
  it = await world({
    plugins: (layout) => testPlugins(layout),
    async copyBefore({ kind, scope, name, plugin = "none" }) {
      copies.push(`${plugin} ${scope}/${name} ${it.store.manifests.get({ kind, scope, name })?.spec.image}`);
      if (failing !== undefined) throw new Failure("conflict", failing);
    },
  });
  it.runtime.addImage(newer);
  ask = plane(it);
});
afterEach(() => it.close());

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
      "no backup of data/main, so nothing was changed: the target is away; --no-backup (in the API no_backup=true) changes its image all the same",
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

test("the plan says that a copy is made", async () => {
  await runs(database(older));
  const { plan } = await it.apply(database(newer), { dryRun: true });
  expect(plan?.[0]?.notes).toContain("a backup is made before its image changes; if that fails, nothing is changed");
});

test("an apply that puts all back copies a database that ran on the newer image", async () => {
  await runs(database(older));
  const bad = deployment("shop", "web", { image: "berth-fixture:missing" });
  await it.apply([database(newer), bad], { atomic: true });
  await it.settle(3_600_000).catch(() => undefined);
  expect(image()).toBe(older);
  expect(copies).toEqual([`none data/main ${older}`, `none data/main ${newer}`]);
});
