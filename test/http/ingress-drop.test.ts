import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { operator } from "../../src/access/principal.ts";
import { limits } from "../../src/config/config.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { deployment } from "../support/manifests.ts";
import { testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

let it: World;
let app: ReturnType<typeof createOrchestrationApp>;
beforeAll(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout, { controllerUrl: () => "http://127.0.0.1:1/run/x" }) });
  writePlugin(it.layout, "front", {
    yml: "name: front\n",
    commands: { apply: "cat >/dev/null", remove: "cat >/dev/null", bring: `cat >/dev/null; printf %s "$1"` },
  });
  app = createOrchestrationApp({ controller: it.controller, version: "t", names: naming(), log: it.log, limits });
});
afterAll(() => it.close());

const rules = {
  allow: ["10.0.0.0/8"],
  deny: ["10.0.0.1"],
  rate_limit: { requests: 5, per: "1s" },
  maintenance: true,
};
const ingress = (spec: object = {}) => ({
  ...{ kind: "ingress", scope: "shop", name: "web" },
  spec: { host: "a.example", ...spec },
});
beforeEach(() =>
  it.apply([{ ...deployment("shop", "web"), spec: { image: "x:1", ports: ["80"], replicas: 0 } }, ingress(rules)]),
);

async function send(target: string, body: unknown) {
  const init = { method: "POST", body: JSON.stringify(body) };
  const answer = await app.behind(new Request(`http://localhost${target}`, init), operator);
  const { error = "", ...rest } = (await answer.json()) as { error?: string };
  return { status: answer.status, error, rest };
}
const stored = () => it.store.manifests.get({ kind: "ingress", scope: "shop", name: "web" })?.spec;
const moved = ingress({ plugin: "front" });
const action = { status: "ok", data: { actions: [{ type: "apply_manifest", manifest: moved }] } };

test.each([
  ["an apply", "/apply", moved],
  ["a dry run", "/apply?dry_run=true", moved],
  ["an atomic apply", "/apply?atomic=true", moved],
  ["an apply that names some of them", "/apply?drop=allow,deny,rate_limit", moved],
  ["an action of a plugin", "/plugin/front/bring", { args: [JSON.stringify(action)] }],
])("%s does not hand a closed ingress to a plugin that opens it", async (_, target, body) => {
  const before = stored();
  const { status, error } = await send(target, body);
  expect([status, error]).toEqual([
    409,
    expect.stringContaining('spec.maintenance: closes the site, and is lost as the plugin "front" takes it'),
  ]);
  const left = target.includes("drop=") ? "drop=maintenance" : "drop=allow,deny,rate_limit,maintenance";
  expect(error).toContain(left);
  expect(stored()).toEqual(before as never);
});

test("it goes where the fields are named, and where nothing that closes it is lost on the way", async () => {
  expect(await send("/apply?drop=everything", moved)).toMatchObject({
    status: 400,
    error: expect.stringContaining("query drop"),
  });
  expect((await send("/apply?drop=allow,deny,rate_limit,maintenance", moved)).status).toBe(200);
  expect(stored()).toMatchObject({ plugin: "front" });
  // Back, and what closes it is taken away by an apply that says nothing else.
  expect((await send("/apply", ingress(rules))).status).toBe(200);
  expect((await send("/apply", ingress())).status).toBe(200);
  expect((await send("/apply", moved)).status).toBe(200);
});
