import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { operator, type Principal, tokenPrincipal } from "../../src/access/principal.ts";
import { fixtureImage } from "../support/manifests.ts";
import { testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";
import { expectFailure } from "../support/failure.ts";

/** A plugin that may be root, and adds something of itself; the shell makes its answer of the block. */

let it: World;
beforeAll(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout, { controllerUrl: () => "http://127.0.0.1:1/run/x" }) });
});
afterAll(() => it.close());
beforeEach(async () => {
  for (const { scope, name } of it.store.blocks.list()) await remove(scope, name);
});

const remove = (scope: string, name: string) =>
  it.controller.deleteManifest({ kind: "agent", scope, name }, { prune: false, actor: "t" });

const token = tokenPrincipal({ scopes: ["actions"], apps: [] });

/** `value NAME` prints the value of a field of the input. */
const reader = `input=$(cat); value() { printf %s "$input" | sed -n 's/.*"'"$1"'":"\\([^"]*\\)".*/\\1/p'; }\n`;
const printed = (json: string) => `cat <<END\n${json}\nEND\n`;
const answer = (volumes: string, more = "") =>
  printed(`{"kind":"deployment","name":"agent","spec":{"image":"${fixtureImage}","volumes":[${volumes}]${more}}}`);

function plugin(expand: string, more: { yml?: string; files?: Record<string, string> } = {}) {
  const folder = writePlugin(it.layout, "agent", {
    yml: `name: agent\npermissions: {docker: true, root: true, scopes: ["*"]}\n${more.yml ?? ""}`,
    commands: { expand: `${reader}echo run >> "$BERTH_PLUGIN_DIR/runs"\n${expand}` },
  });
  return { runs: async () => (await Bun.file(`${folder}/runs`).text()).split("\n").length - 1, folder };
}

const apply = (spec: object, by: Principal = token, more: { dryRun?: boolean } = {}) =>
  it.apply({ kind: "agent", scope: "shop", name: "a", spec: { ...spec } }, { by, ...more });
const stored = () => it.store.manifests.get({ kind: "deployment", scope: "shop", name: "agent" })?.spec;

test("what the plugin adds to every block is its own, and costs one more run", async () => {
  const { runs } = plugin(answer(`"/var/log:/logs:ro"`, `,"env":{"LEVEL":"$(value level)"}`));
  await apply({ level: "debug" });
  expect(stored()).toMatchObject({ volumes: ["/var/log:/logs:ro"], env: { LEVEL: "debug" } });
  expect(await runs()).toBe(2);
  // It stands now.
  await apply({ level: "info" });
  expect(await runs()).toBe(3);
  await apply({ level: "warn" }, operator);
  expect(await runs()).toBe(4);
});

test.each<[string, string, object]>([
  ["a value of the block", answer(`"/var/log:/logs:ro","$(value made)"`), { made: "/:/h" }],
  ["a part of a value", answer(`"/srv/$(value made):/data"`), { made: "x" }],
  ["a switch", `if [ "$(value made)" = yes ]; then\n${answer(`"/:/h"`)}else\n${answer("")}fi`, { made: "yes" }],
])("%s does not steer it", async (_, expand, spec) => {
  plugin(expand);
  for (const dryRun of [true, false]) {
    const error = await expectFailure(apply(spec, token, { dryRun }), "forbidden");
    expect(error.message).toContain("takes the scope admin");
  }
  expect(stored()).toBeUndefined();
  await apply(spec, operator);
  expect(stored()).toBeDefined();
  // It stands: a token may go on with it, and change nothing of that part.
  await apply({ ...spec, other: "x" });
});

test("config does not steer it, and neither does what the plugin asks the server while it is asked again", async () => {
  const { folder } = plugin(answer(`"$(value MOUNT)"`));
  await it.controller.setConfig({ scope: "shop", name: "a" }, { MOUNT: "/:/h" }, { restart: false, actor: "t" });
  await expectFailure(apply({}), "forbidden");
  plugin(
    `env > "${folder}/../env-$(wc -l < "$BERTH_PLUGIN_DIR/runs" | tr -d ' ')"; printf %s "$input" > "${folder}/../input"\n${answer(`"/var/log:/l"`)}`,
  );
  await apply({});
  const environment = (run: number) => Bun.file(`${folder}/../env-${run}`).text();
  expect(await environment(1)).toContain("BERTH_CONTROLLER_URL");
  expect(await environment(2)).not.toMatch(/CONTROLLER_URL|CALLBACK/);
  expect(await Bun.file(`${folder}/../input`).json()).toMatchObject({ spec: {}, config: {}, dry_run: true });
  expect(await Bun.file(`${folder}/../input`).text()).not.toContain("controller_url");
  await it.controller.setConfig({ scope: "shop", name: "a" }, { MOUNT: "" }, { restart: false, actor: "t" });
});

test("a plugin that wants a field is asked again with what its own schema names", async () => {
  const schema = {
    type: "object",
    required: ["size", "pod"],
    properties: {
      size: { type: "string", enum: ["small", "large"] },
      pod: { type: "object", required: ["level"], properties: { level: { type: "string", default: "info" } } },
      level: { type: "string" },
    },
  };
  const { folder } = plugin(
    `[ -n "$(value size)" ] || { echo "size is required" >&2; exit 1; }\n${answer(`"/var/log:/logs"`)}`,
    {
      yml: "schema: schema.json\n",
    },
  );
  await Bun.write(`${folder}/schema.json`, JSON.stringify(schema));
  await apply({ size: "large", pod: { level: "debug" } });
  expect(stored()?.volumes).toEqual(["/var/log:/logs"]);
});

test("what runs with the rights of the plugin is not the caller's to say, in one step or in two", async () => {
  const files = printed(
    `[{"kind":"asset","name":"conf","spec":{"files":{"a":"$(value conf)"}}},` +
      `{"kind":"deployment","name":"agent","spec":{"image":"$(value image)","volumes":["/var/log:/logs"]}}]`,
  );
  plugin(`image=$(value image)\nif [ -z "$image" ]; then input='{"image":"${fixtureImage}"}'; fi\n${files}`);
  await expectFailure(apply({ image: "evil:1" }), "forbidden");
  await expectFailure(apply({ image: fixtureImage, conf: "exec id" }), "forbidden");
  await apply({});
  await it.settle();
  const child = { kind: "deployment", scope: "shop", name: "agent", spec: { ...stored() } };
  await expectFailure(apply({ image: "evil:1" }), "forbidden");
  await expectFailure(it.apply({ ...child, spec: { ...child.spec, image: "evil:1" } }, { by: token }), "forbidden");
  const asset = { kind: "asset", scope: "shop", name: "conf", spec: { files: { a: "exec id" } } };
  await expectFailure(it.apply(asset, { by: token }), "forbidden");
  await it.apply({ ...child, spec: { ...child.spec, replicas: 2 } }, { by: token });
  it.runtime.addImage("other:1");
  await apply({ image: "other:1" }, operator);
  await it.settle();
  const back = (by: Principal) =>
    it.controller.rollback({ scope: "shop", name: "agent", releaseId: undefined }, { actor: "t", by });
  await expectFailure(back(token), "forbidden");
  expect(stored()?.image).toBe("other:1");
  await back(operator);
  expect(stored()?.image).toBe(fixtureImage);
});

test("where nothing is known of what it adds, that takes admin", async () => {
  plugin(`[ -n "$(value size)" ] || { echo "size is required" >&2; exit 1; }\n${answer(`"/var/log:/logs"`)}`);
  await expectFailure(apply({ size: "large" }), "forbidden");
  await apply({ size: "large" }, operator);
});

test("what a block says in words that plugins hand on is refused before the plugin runs", async () => {
  const { runs, folder } = plugin(answer(""));
  await Bun.write(`${folder}/runs`, "");
  for (const spec of [
    { env: { volumes: "/:/h" } },
    { pod: { docker_options: ["--privileged"] } },
    { cap_add: "ALL" },
  ]) {
    await expectFailure(apply(spec), "forbidden");
  }
  expect(await runs()).toBe(0);
});

test("an asset that the plugin makes of the block's own address is not fetched", async () => {
  const files = { a: { _source: "url", url: "$(value made)" } };
  const manifest = { kind: "asset", scope: "shop", name: "x", spec: { files } };
  plugin(printed(JSON.stringify({ manifests: [], actions: [{ type: "apply_manifest", manifest }] })));
  await expectFailure(apply({ made: "http://127.0.0.1:1/secret" }), "forbidden");
  expect(it.store.manifests.list({ kind: "asset" })).toEqual([]);
});
