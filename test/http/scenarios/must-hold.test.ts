import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deployment, fixtureImage } from "../../support/manifests.ts";
import { type Ask, plane } from "../../support/plane.ts";
import { rowsOf } from "../../support/rows.ts";
import { type World, world } from "../../support/world.ts";

let it: World;
let ask: Ask;
beforeAll(async () => {
  it = await world();
  ask = plane(it);
  await it.apply([
    deployment("a-b", "c", { replicas: 1 }),
    { kind: "ingress", scope: "a-b", name: "c", spec: { host: "taken.example.org" } },
  ]);
  await it.settle();
});
afterAll(() => it.close());

const web = (fields: object) => ({ ...deployment("shop", "web"), ...fields });
const ingress = (name: string) => ({ kind: "ingress", scope: "shop", name, spec: { host: "one.example.org" } });
const nest = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const raw = (spec: string) => `{"kind":"deployment","scope":"shop","name":"web","spec":${spec}}`;

/** What a caller sends wrongly, the status, and how the answer names it. */
const refused: [what: string, body: unknown, status: number, text: RegExp][] = [
  ["a name with ..", web({ name: "a..b" }), 400, /^name: "a\.\.b"/],
  ["a name with /", web({ name: "a/b" }), 400, /^name: "a\/b"/],
  ["a name in upper case", web({ name: "Web" }), 400, /^name: "Web"/],
  ["an over-long name", web({ name: "w".repeat(64) }), 400, /^name: "w{64}"/],
  ["replicas as text", web({ spec: { replicas: "3" } }), 400, /^spec\.replicas: /],
  ["a billion replicas", web({ spec: { replicas: 1e9 } }), 400, /^spec\.replicas: .*at most/],
  ["depth 10,000", raw(nest(10_000)), 400, /^body line 1 column \d+: nested deeper than 64 levels/],
  [
    "depth of lists",
    raw(`{"command":${"[".repeat(10_000)}${"]".repeat(10_000)}}`),
    400,
    /nested deeper than 64 levels/,
  ],
  ["an identity twice", [web({}), web({})], 400, /^manifest 2: name: manifests 1 and 2 are both deployment\/shop\/web/],
  ["__proto__", raw('{"__proto__":{"replicas":5}}'), 400, /^spec\.__proto__: the key "__proto__" is not allowed/],
  ["__proto__ as a manifest field", '{"__proto__":{"kind":"deployment"},"name":"x"}', 400, /__proto__/],
  ["two ingresses on one host", [ingress("x"), ingress("y")], 400, /^manifest 2: spec\.host: "one\.example\.org\/"/],
  [
    "an ingress on a host that is taken",
    { kind: "ingress", scope: "shop", name: "z", spec: { hosts: ["free.example.org", "Taken.example.org"] } },
    400,
    /^spec\.host: "taken\.example\.org\/" is already served by ingress\/a-b\/c/,
  ],
  ["<scope>-<name> of another pair", web({ scope: "a", name: "b-c" }), 409, /^name: .*"a-b-c"/],
  ["a kind nobody knows", web({ kind: "daemonset" }), 400, /^kind: "daemonset" is not a kind/],
  ["a spec field nobody knows", web({ spec: { replcas: 1 } }), 400, /^spec\.replcas: unknown field.*replicas/],
  [
    "a stale revision",
    { ...web({ scope: "a-b", name: "c" }), metadata: { if_revision: 999 } },
    409,
    /^metadata\.if_revision: /,
  ],
  ["text that is no JSON", '{"kind": deployment}', 400, /^body line 1 column 10: /],
  ["a key given twice", '{"kind":"deployment","kind":"job"}', 400, /^body line 1 column 22: key "kind" is given twice/],
  ["nothing", "", 400, /^the body is empty/],
  ["blanks", " \n ", 400, /^the body is empty/],
  ["an empty list", "[]", 400, /^no manifests in the body/],
];

describe("refused with a 4xx that names the field, nothing written, the server alive", () => {
  test.each(refused)("%s", async (_what, body, status, text) => {
    const rows = rowsOf(it);
    it.runtime.calls.length = 0;
    for (const query of ["", "?dry_run=true", "?prune=true"]) {
      const answer = await ask(`POST /apply${query}`, body);
      expect([answer.status, answer.error]).toEqual([status, expect.stringMatching(text)]);
    }
    await it.quiet();
    expect(rowsOf(it)).toEqual(rows);
    expect(it.runtime.calls).toEqual([]);
    expect((await ask("GET /health")).status).toBe(200);
  });

  test("and what was polluted is nothing", () => {
    expect(({} as Record<string, unknown>).replicas).toBeUndefined();
  });
});

test("a refusal lists its problems as data, each with its manifest and path", async () => {
  const { text } = await ask("POST /apply", [
    web({}),
    { ...web({ name: "other", spec: { image: fixtureImage, replicas: -1 } }), extra: 1 },
  ]);
  expect(JSON.parse(text)).toMatchObject({
    code: "invalid",
    problems: [
      { manifest: 2, path: "extra", reason: "UnknownField" },
      { manifest: 2, path: "spec.replicas", message: expect.stringContaining("at least 0") },
    ],
  });
});

test("a good manifest beside all that still goes through", async () => {
  const answer = await ask("POST /apply", {
    kind: "deployment",
    scope: "fine",
    name: "web",
    spec: { image: fixtureImage },
  });
  expect(answer.status).toBe(200);
  await it.settle();
  expect(it.containers().some((name) => name.startsWith("fine-web."))).toBe(true);
});
