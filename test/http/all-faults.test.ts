import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { deployment } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

const schema = { type: "object", properties: { size: { type: "integer" } }, additionalProperties: false };

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world({
    plugins: (layout) => {
      const yml = 'name: cache\nversion: "1.0"\nschema: schema.json\n';
      const place = writePlugin(layout, "cache", { yml, commands: { expand: printing([]) } });
      writeFileSync(join(place, "schema.json"), JSON.stringify(schema));
      return testPlugins(layout);
    },
  });
  ask = plane(it);
});
afterEach(() => it.close());

const ingress = (scope: string, name: string, spec: Record<string, unknown>) => ({
  kind: "ingress",
  scope,
  name,
  spec,
});

function pathsOf({ text }: { text: string }): string[] {
  const { problems } = JSON.parse(text) as { problems: { manifest?: number; path: string }[] };
  return problems.map(({ manifest, path }) => `${manifest ?? "-"} ${path}`);
}

for (const way of ["POST /apply", "POST /apply?dry_run=true"] as const) {
  test(`${way} tells shapes, rules, taken hosts and references that lead nowhere in one answer`, async () => {
    await it.apply(ingress("other", "site", { host: "taken.example" }));
    const answer = await ask(way, [
      deployment("shop", "web", { replicas: "three", restart: "perhaps" }),
      ingress("shop", "web", { host: "taken.example" }),
      deployment("shop", "api", { volumes: ["${asset.missing.index}:/x:ro"], stop_grace: "5 parsecs" }),
    ]);
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toEqual([
      "1 spec.replicas",
      "1 spec.restart",
      "3 spec.stop_grace",
      "3 spec.volumes[0]",
      "2 spec.host",
    ]);
    expect(it.store.manifests.list({ scope: "shop" })).toEqual([]);
  });
}

test("where all shapes are right, builds, references and hosts are told together", async () => {
  await it.apply(ingress("other", "site", { host: "taken.example" }));
  const answer = await ask("POST /apply", [
    { kind: "app", scope: "shop", name: "built", spec: { build: { context: "." } } },
    ingress("shop", "web", { host: "taken.example" }),
    deployment("shop", "api", { volumes: ["${asset.missing.index}:/x:ro"] }),
  ]);
  expect(answer.status).toBe(400);
  expect(pathsOf(answer)).toEqual(["1 spec.build.id", "3 spec.volumes[0]", "2 spec.host"]);
});

test("a name that is taken is a conflict where nothing else is wrong, and one of the faults where something is", async () => {
  await it.apply(deployment("shop-a", "web"));
  const taken = deployment("shop", "a-web");
  expect((await ask("POST /apply", [taken])).status).toBe(409);
  const both = await ask("POST /apply", [
    taken,
    deployment("shop", "api", { volumes: ["${asset.missing.index}:/x:ro"] }),
  ]);
  expect(both.status).toBe(400);
  expect(pathsOf(both)).toEqual(["2 spec.volumes[0]", "1 name"]);
});

test("the faults of several blocks are told at once", async () => {
  const block = (name: string) => ({ kind: "cache", scope: "data", name, spec: { sizze: 1 } });
  const answer = await ask("POST /apply", [block("one"), block("two")]);
  expect(answer.status).toBe(400);
  expect(pathsOf(answer)).toEqual(["1 spec.sizze", "2 spec.sizze"]);
  const beside = await ask("POST /apply", [block("one"), deployment("shop", "web", { replicas: "x" })]);
  expect(pathsOf(beside)).toEqual(["2 spec.replicas", "1 spec.sizze"]);
});
