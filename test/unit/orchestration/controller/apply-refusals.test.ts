import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { operator } from "../../../../src/access/principal.ts";
import type { FailureCode } from "../../../../src/base/wire/failure.ts";
import type { Spec } from "../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../support/failure.ts";
import { deployment, fixtureImage, statefulset } from "../../../support/manifests.ts";
import { rowsOf } from "../../../support/rows.ts";
import { type World, world } from "../../../support/world.ts";

const web = (spec: Spec) => ({
  kind: "deployment",
  scope: "shop",
  name: "web",
  spec: { image: fixtureImage, ...spec },
});
const named = (name: unknown, scope: unknown = "shop") => ({ kind: "deployment", scope, name, spec: {} });
const ingress = (name: string, spec: Spec) => ({ kind: "ingress", scope: "shop", name, spec });
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
};

type Refusal = [what: string, body: unknown, text: string | RegExp, code?: FailureCode];

const identities: Refusal[] = [
  ["a name with ..", named("a..b"), 'name: "a..b" is not a name'],
  ["a name that leads upwards", named("../../etc"), 'name: "../../etc" is not a name'],
  ["a name with /", named("a/b"), 'name: "a/b" is not a name'],
  ["a name in upper case", named("Web"), 'name: "Web" is not a name'],
  ["an over-long name", named("a".repeat(64)), /^name: "a{64}" is not a name/],
  ["a name of a megabyte", named("a".repeat(1_000_000)), /^name: "a{80}…" is not a name/],
  ["no name", named(undefined), "name: a name is required"],
  ["a name that is a number", named(7), "name: expected string, got number"],
  ["a scope with ..", named("web", ".."), 'scope: ".." is not a scope'],
  ["a scope with /", named("web", "a/b"), 'scope: "a/b" is not a scope'],
  ["a scope in upper case", named("web", "Shop"), 'scope: "Shop" is not a scope'],
  ["an over-long scope", named("web", "a".repeat(41)), /^scope: "a{41}" is not a scope/],
  ["no scope", named("web", ""), "scope: a deployment needs a scope"],
  [
    "a scope on a registry",
    { kind: "registry", scope: "s", name: "r", spec: { url: "r.io", username: "ci", token: "t" } },
    "scope: a registry has no",
  ],
  ["an unknown kind", { ...named("web"), kind: "depolyment" }, /^kind: "depolyment" is not a kind.*deployment/],
  ["no kind", { name: "web" }, "kind: is required"],
  ["an unknown field", { ...named("web"), sepc: {} }, /^sepc: unknown field.*spec/],
  ["an unknown field of metadata", { ...named("web"), metadata: { a: 1 } }, "metadata.a: unknown field"],
  ["a revision that is text", { ...named("web"), metadata: { if_revision: "3" } }, "metadata.if_revision: expected"],
];

const bodies: Refusal[] = [
  ["null", null, "expected object, got null"],
  ["text", "apply me", "expected object, got string"],
  ["an empty array", [], "no manifests in the body"],
  ["an array in an array", [[named("web")], named("b")], "manifest 1: expected object, got array"],
  ["more manifests than fit", Array.from({ length: 1_001 }, (_, n) => named(`a${n}`)), "1001 manifests in one apply"],
  [
    "an identity twice",
    [web({}), named("b"), web({})],
    "manifest 3: name: manifests 1 and 3 are both deployment/shop/web",
  ],
  [
    "an identity twice in two spellings",
    [web({}), { ...web({}), kind: "Deployments" }],
    "manifest 2: name: manifests 1 and 2 are both deployment/shop/web",
  ],
  ["one bad manifest among good ones", [web({}), named("X")], 'manifest 2: name: "X" is not a name'],
];

const specs: Refusal[] = [
  ["replicas as text", web({ replicas: "3" }), /^spec\.replicas: .*integer.*string/],
  ["replicas of a billion", web({ replicas: 1e9 }), /^spec\.replicas: .*at most 1000/],
  ["replicas below zero", web({ replicas: -1 }), /^spec\.replicas: /],
  ["half a replica", web({ replicas: 1.5 }), /^spec\.replicas: /],
  ["depth 10,000", web({ env: nested(10_000) as Spec }), /^spec\.env.*nested too deeply/],
  ["__proto__", JSON.parse('{"kind":"deployment","scope":"s","name":"w","spec":{"__proto__":{"a":1}}}'), /__proto__/],
  [
    "__proto__ below",
    JSON.parse('{"kind":"deployment","scope":"s","name":"w","spec":{"env":{"__proto__":"1"}}}'),
    /__proto__/,
  ],
  ["constructor", web({ env: { constructor: "x" } }), /^spec\.env\.constructor: /],
  ["a NUL in a value", web({ env: { A: "a\0b" } }), /^spec\.env\.A: holds a NUL/],
  ["an unknown field", web({ replicsa: 3 }), /^spec\.replicsa: unknown field.*replicas/],
  ["a spec that is a list", { ...web({}), spec: [] }, "spec: expected object, got array"],
  ["a bad quantity", web({ resources: { limits: { memory: "lots" } } }), /^spec\.resources\.limits\.memory: /],
  ["a bad duration", web({ stop_grace: "soon" }), /^spec\.stop_grace: /],
  ["a bad port", web({ ports: ["99999"] }), /^spec\.ports\[0\]: /],
  ["a bad image", web({ image: "UPPER CASE" }), /^spec\.image: /],
  ["a bad volume", web({ volumes: ["../etc:/etc"] }), /^spec\.volumes\[0\]: /],
  ["an option outside the list", web({ docker_options: ["--privileged-ish"] }), /^spec\.docker_options\[0\]: /],
  [
    "a bad cron",
    { kind: "cronjob", scope: "s", name: "c", spec: { schedule: "61 * * * *", job: {} } },
    /^spec\.schedule: /,
  ],
  ["a missing asset", web({ volumes: ["${asset.conf.app}:/etc/app"] }), /^spec\.volumes\[0\]: .*names no asset file/],
  ["an ingress without host", ingress("a", {}), /^spec\.host: is required/],
];

const owned: Refusal[] = [
  [
    "two ingresses on one host in one apply",
    [ingress("a", { host: "x.example.org" }), ingress("b", { host: "X.example.org" })],
    'manifest 2: spec.host: "x.example.org/" is already served by ingress/shop/a',
  ],
  [
    "an ingress on a host and path that is stored",
    ingress("late", { host: "TAKEN.example.org", locations: [{ path: "/api/" }] }),
    /^spec\.host: "taken\.example\.org\/api" is already served by ingress\/shop\/early/,
  ],
  [
    "<scope>-<name> of another pair",
    { ...web({}), scope: "a", name: "b-c" },
    /^name: .*"a-b-c".*deployment\/a-b\/c/,
    "conflict",
  ],
  [
    "<scope>-<name> of another pair in one apply",
    [
      { ...web({}), scope: "d-e", name: "f" },
      { ...web({}), scope: "d", name: "e-f" },
    ],
    /^manifest 2: name: .*"d-e-f"/,
    "conflict",
  ],
  [
    "volumes of another statefulset",
    statefulset("a-b-c", "data", { volume_claims: claims("x") }),
    /^name: /,
    "conflict",
  ],
  ["host names of a statefulset's pods", deployment("a", "q-0"), /^name: host names "q-#\.a"/, "conflict"],
  [
    "a registry that has a login",
    { kind: "registry", name: "two", spec: { url: "hub.example.org", username: "ci", token: "t" } },
    /^spec\.url: /,
    "conflict",
  ],
];

function claims(name: string) {
  return [{ name, mount_path: "/data" }];
}

describe("nothing is written, the field is named, and the server lives on after", () => {
  let it: World;
  beforeAll(async () => {
    it = await world();
    await it.apply([
      { ...web({ replicas: 0 }), scope: "a-b", name: "c" },
      statefulset("a", "b-c-data", { replicas: 0, volume_claims: claims("x") }),
      statefulset("a", "q", { replicas: 0 }),
      ingress("early", { host: "taken.example.org", locations: [{ path: "/api" }] }),
      { kind: "registry", name: "one", spec: { url: "hub.example.org", username: "ci", token: "t" } },
    ]);
    await it.settle();
  });
  afterAll(() => it.close());

  for (const [group, refusals] of Object.entries({ identities, bodies, specs, owned })) {
    test.each(refusals)(`${group}: %s`, async (_what, body, text, code = "invalid") => {
      const rows = rowsOf(it);
      it.runtime.calls.length = 0;
      for (const dryRun of [false, true]) {
        const error = await expectFailure(
          it.controller.apply(body, { dryRun, prune: false, actor: "test", by: operator }),
          code,
        );
        expect(error.message).toMatch(text);
        expect(error.message.length).toBeLessThan(20_000);
      }
      await it.quiet();
      expect(rowsOf(it)).toEqual(rows);
      expect(it.runtime.calls).toEqual([]);
      expect(it.controller.listManifests({})).toHaveLength(5);
    });
  }

  test("all problems are told at once, each with its path", async () => {
    const body = [web({ replicas: "3", image: 7 }), named("X")];
    const error = await expectFailure(
      it.controller.apply(body, { dryRun: false, prune: false, actor: "test", by: operator }),
      "invalid",
    );
    const paths = error.message.split("\n").map((line) => line.split(": ").slice(0, 2).join(": "));
    expect(paths).toEqual(["manifest 1: spec.image", "manifest 1: spec.replicas", "manifest 2: name"]);
  });
});
