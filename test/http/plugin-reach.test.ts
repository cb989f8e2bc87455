import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { operator, type Principal, tokenPrincipal } from "../../src/access/principal.ts";
import { limits } from "../../src/config/config.ts";
import { onlyHeader } from "../../src/orchestration/api/dispatch.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { deployment, fixtureImage } from "../support/manifests.ts";
import { testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

/** What a command of a plugin may change: what its caller reaches, and what belongs to the block that the caller names. */

let it: World;
let app: ReturnType<typeof createOrchestrationApp>;

const job = (scope: string, name: string, more: object = {}) => ({
  ...{ kind: "job", scope, name },
  spec: { image: fixtureImage, command: ["true"], ...more },
});
const set = { kind: "statefulset", scope: "data", name: "main", spec: { image: fixtureImage, volumes: ["db:/d"] } };
const helper = job("data", "main-helper", { volumes: ["db:/d"] });
const ingress = {
  kind: "ingress",
  scope: "data",
  name: "main",
  spec: { host: "a.example", service: "main", port: 80 },
};

beforeAll(async () => {
  it = await world({
    plugins: (layout) => testPlugins(layout, { controllerUrl: () => "http://127.0.0.1:1/run/x" }),
  });
  writePlugin(it.layout, "db", {
    yml: "name: db\nkinds: [db]\n",
    commands: {
      expand: `name=$(sed 's/.*"name":"\\([^"]*\\)".*/\\1/'); echo '${JSON.stringify({ status: "ok", data: [set, helper] })}' | sed "s/main/$name/g"`,
      act: 'cat >/dev/null; printf %s "$2" | base64 -d',
    },
  });
  app = createOrchestrationApp({ controller: it.controller, version: "t", names: naming(), log: it.log, limits });
});
afterAll(() => it.close());

beforeEach(async () => {
  const others = [deployment("other", "web"), job("other", "web"), job("data", "main"), ingress];
  await it.apply([{ kind: "db", scope: "data", name: "main", spec: {} }, ...others]);
  await it.apply([deployment("data", "else")]);
});

const token = (apps: string[], scopes = ["actions"]) => tokenPrincipal({ scopes, apps });

/** Runs the command with these actions for the caller. */
async function act(
  by: Principal,
  actions: readonly object[],
  headers: Record<string, string> = {},
): Promise<{ status: number; error: string }> {
  const words = ["data/main", Buffer.from(JSON.stringify({ status: "ok", data: { actions } })).toString("base64")];
  const init = { method: "POST", headers, body: JSON.stringify({ args: words }) };
  const answer = await app.behind(new Request("http://localhost/plugin/db/act", init), by);
  const { error = "" } = (await answer.json()) as { error?: string };
  return { status: answer.status, error };
}

/** All that actions can change, without times. */
const stored = () =>
  JSON.stringify([
    it.store.manifests.list().map(({ kind, scope, name, spec }) => [kind, scope, name, spec]),
    ["other/web", "data/main", "data/main-helper", "data/else"].map((place) => {
      const [scope = "", name = ""] = place.split("/");
      return it.store.config.bucket(scope, name);
    }),
    it.store.runs.list({ kind: "job", scope: "other", name: "web" }).length,
  ]);

let count = 0;
const kinds: [string, (scope: string, name: string) => object][] = [
  ["config_set", (scope, name) => ({ type: "config_set", scope, name, kv: { KEY: `${++count}` } })],
  ["config_unset", (scope, name) => ({ type: "config_unset", scope, name, keys: ["KEY"] })],
  [
    "apply_manifest",
    (scope, name) => ({ type: "apply_manifest", manifest: job(scope, name, { env: { N: `${++count}` } }) }),
  ],
  ["delete_manifest", (scope, name) => ({ type: "delete_manifest", kind: "job", scope, name })],
  ["run_job", (scope, name) => ({ type: "run_job", scope, name })],
];

const callers: [string, Principal, { other: boolean; helper: boolean }][] = [
  ["the operator", operator, { other: true, helper: true }],
  ["a token without a limit", token([]), { other: true, helper: true }],
  ["a token for the block", token(["data/main"]), { other: false, helper: true }],
  ["a token for the scope of the block", token(["data"]), { other: false, helper: true }],
  ["a token for both", token(["data/main", "other/web"]), { other: true, helper: true }],
  ["a token for another app", token(["other"]), { other: true, helper: false }],
  [
    "a person for the block",
    tokenPrincipal({ scopes: ["actions"], apps: ["data/main"], person: "a@b.example" }),
    { other: false, helper: true },
  ],
  [
    "a run that a token for the block started",
    { type: "plugin", askedBy: token(["data/main"]) },
    { other: false, helper: true },
  ],
  [
    "a container of such a run",
    { type: "pod", askedBy: { type: "plugin", askedBy: token(["data/main"]) } },
    { other: false, helper: true },
  ],
  ["a token without actions", token([], ["read"]), { other: false, helper: false }],
];

describe.each(kinds)("%s", (kind, make) => {
  test.each(callers)("of %s stays within what it reaches", async (_, by, may) => {
    for (const [scope, name, isAllowed] of [
      ["other", "web", may.other],
      ["data", "main-helper", may.helper],
    ] as const) {
      if (kind === "apply_manifest" && name === "main-helper") continue;
      await it.controller.setConfig({ scope, name }, { KEY: "0" }, { actor: "t", by: operator, restart: false });
      await it.quiet();
      const before = stored();
      const answer = await act(by, [make(scope, name)]);
      expect([scope, name, answer.status]).toEqual([scope, name, isAllowed ? 200 : 403]);
      if (!isAllowed) {
        const isScope = by.type === "token" && !by.scopes.includes("actions");
        expect(answer.error).toContain(
          isScope ? "requires actions" : "is out of reach of this token, which is limited to apps",
        );
        expect(stored()).toBe(before);
      } else if (kind !== "run_job") expect(stored()).not.toBe(before);
      await it.apply([job("other", "web"), { kind: "db", scope: "data", name: "main", spec: {} }]);
    }
  });
});

test("nothing of an answer is done when one of its actions is beyond reach", async () => {
  const before = stored();
  const inside = { type: "config_set", scope: "data", name: "main", kv: { A: "1" } };
  const beyond = { type: "config_set", scope: "other", name: "web", kv: { A: "1" } };
  for (const actions of [
    [inside, beyond],
    [beyond, inside],
    [{ type: "run_job", scope: "data", name: "main" }, beyond],
  ]) {
    const answer = await act(token(["data/main"]), actions);
    expect([answer.status, answer.error]).toEqual([403, expect.stringContaining("other/web is out of reach")]);
  }
  expect(stored()).toBe(before);
});

test.each<[string, object, number]>([
  ["the program of a child of the block", { ...set, spec: { ...set.spec, command: ["sleep", "1"] } }, 200],
  ["a volume that stands", helper, 200],
  ["another volume", { ...helper, spec: { ...helper.spec, volumes: ["db:/d", "cache:/e"] } }, 403],
  ["the config of another app", { ...set, spec: { ...set.spec, env_from: ["other/web"] } }, 403],
  ["a reference to another app", job("data", "main", { env: { A: "${ref.deployment.other/web.host}" } }), 403],
  ["a site", { ...ingress, spec: { ...ingress.spec, host: "b.example" } }, 403],
  ["a new resource beside the block", job("data", "main-new"), 403],
  ["a new resource of another name of the scope", job("data", "fresh"), 403],
])("a token for the block applies %s as it may itself", async (_, manifest, status) => {
  const answer = await act(token(["data/main"]), [{ type: "apply_manifest", manifest }]);
  expect([answer.status, answer.error]).toEqual([
    status,
    expect.stringContaining(status === 200 ? "" : "limited to apps"),
  ]);
});

test("a bucket that a stranger of the same name reads is not the block's", async () => {
  await it.apply([deployment("data", "main-helper")]);
  const action = { type: "config_set", scope: "data", name: "main-helper", kv: { A: "1" } };
  expect((await act(token(["data/main"]), [action])).status).toBe(403);
  await it.controller.deleteManifest(
    { kind: "deployment", scope: "data", name: "main-helper" },
    { prune: false, actor: "t" },
  );
});

test("what the caller does on their own machine is theirs", async () => {
  const actions = [
    { type: "exec_local", command: ["true"] },
    { type: "fetch_file", remote_path: "/x", dest_path: "x" },
  ];
  expect((await act(token(["data/main"]), actions)).status).toBe(200);
});

test("a pod changes nothing of another block of its plugin, and what else its plugin was granted", async () => {
  await it.apply({ kind: "db", scope: "data", name: "second", spec: {} });
  const pod = { [onlyHeader]: "data/main,data/main-helper" };
  const before = stored();
  for (const [, make] of kinds) {
    for (const name of ["second", "second-helper"]) {
      const answer = await act({ type: "pod" }, [make("data", name)], pod);
      expect([answer.status, answer.error]).toEqual([403, expect.stringContaining(`"data/${name}" is not for it`)]);
    }
    expect((await act({ type: "pod" }, [make("other", "web")], pod)).status).toBe(200);
    await it.apply([deployment("other", "web"), job("other", "web")]);
  }
  expect(JSON.parse(before)[0].length).toBe(it.store.manifests.list().length);
});
