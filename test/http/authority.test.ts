import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { operator, type Principal, tokenPrincipal, unnamed } from "../../src/access/principal.ts";
import { limits } from "../../src/config/config.ts";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { deployment } from "../support/manifests.ts";
import { noPlugins } from "../../src/orchestration/controller/state/plugin-room.ts";
import { testPlugins, writePlugin } from "../support/plugins.ts";
import { reachingManifests } from "../support/reaching.ts";
import { type World, world } from "../support/world.ts";

/** What a request without the machine's rights must not bring about. */
const seen: string[] = [];

let it: World;
let app: ReturnType<typeof createOrchestrationApp>;

beforeAll(async () => {
  const counted = Object.keys(noPlugins().installer).map((method) => [
    method,
    async () => {
      if (method !== "verify") seen.push(`installer.${method}`);
      if (method !== "verify") throw new Error("not here");
    },
  ]);
  it = await world({
    fetch: async (url) => {
      seen.push(`fetch ${url}`);
      return new Response("text");
    },
    plugins: (layout) =>
      testPlugins(layout, {
        installer: Object.fromEntries(counted),
        defaultRepo: (kind) => (kind === "known" ? "owner/known" : undefined),
      }),
  });
  // It makes of a block, or of the word of a command, whatever that says.
  writePlugin(it.layout, "mirror", {
    yml: "name: mirror\n",
    commands: {
      expand: `made=$(sed -n 's/.*"made":"\\([^"]*\\)".*/\\1/p' | base64 -d); echo "\${made:-[]}"`,
      bring: 'cat >/dev/null; printf %s "$1" | base64 -d',
    },
  });
  app = createOrchestrationApp({ controller: it.controller, version: "t", names: naming(), log: it.log, limits });
});
afterAll(() => it.close());

const token = tokenPrincipal({ scopes: ["read", "actions", "host:read", "config:reveal", "exec"], apps: [] });
const principals: [string, Principal][] = [
  ["a token with every scope but admin", token],
  ["a person with the role operator", tokenPrincipal({ scopes: ["read", "actions"], apps: [], person: "a@b.example" })],
  ["a token with admin for some apps", tokenPrincipal({ scopes: ["actions", "admin"], apps: ["shop"] })],
  ["a run of a plugin that a token started", { type: "plugin", askedBy: token }],
  ["a pod", { type: "pod" }],
  ["a caller that no door named", unnamed],
];

async function send(by: Principal, request: string, body?: unknown): Promise<{ status: number; error: string }> {
  const [method = "", target = ""] = request.split(" ");
  const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await app.behind(new Request(`http://localhost${target}`, init), by);
  const { error = "" } = (await answer.json()) as { error?: string };
  return { status: answer.status, error };
}

const word = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const block = (manifest: Manifest) => ({ kind: "mirror", scope: "shop", name: "m", spec: { made: word([manifest]) } });
const action = (manifest: Manifest) => ({ data: { actions: [{ type: "apply_manifest", manifest }] }, status: "ok" });

/** Every way that a manifest comes in. */
const doors: [string, (by: Principal, manifest: Manifest) => ReturnType<typeof send>][] = [
  ["an apply", (by, manifest) => send(by, "POST /apply", manifest)],
  ["a dry run", (by, manifest) => send(by, "POST /apply?dry_run=true", manifest)],
  ["an atomic apply", (by, manifest) => send(by, "POST /apply?atomic=true", manifest)],
  ["an apply beside harmless ones", (by, manifest) => send(by, "POST /apply", [deployment("shop", "x"), manifest])],
  ["the block of a plugin", (by, manifest) => send(by, "POST /apply", block(manifest))],
  ["a dry run of a block", (by, manifest) => send(by, "POST /apply?dry_run=true", block(manifest))],
  [
    "a command of a plugin",
    (by, manifest) => send(by, "POST /plugin/mirror/bring", { args: [word(action(manifest))] }),
  ],
];

describe.each(doors)("%s", (door, come) => {
  test.each(reachingManifests)("does not bring %s for a token, and does for an operator", async (_, manifest) => {
    const isByPlugin = door.includes("block") || door.includes("command");
    if (isByPlugin && manifest.kind === "app") return;
    seen.length = 0;
    const rows = it.store.manifests.list();
    it.runtime.calls.length = 0;
    const refused = await come(token, manifest);
    expect([refused.status, refused.error]).toEqual([403, expect.stringContaining("which takes the scope admin")]);
    await it.quiet();
    expect([seen, it.runtime.calls, it.store.manifests.list()]).toEqual([[], [], rows]);
    expect(it.store.blocks.list()).toEqual([]);
    if (door === "a dry run") expect((await come(operator, manifest)).status).not.toBe(403);
  });
});

test.each(principals)("%s applies none of them, and what reaches nothing", async (_, by) => {
  for (const [what, manifest] of reachingManifests) {
    expect([what, (await send(by, "POST /apply?dry_run=true", manifest)).status]).toEqual([what, 403]);
  }
  expect((await send(by, "POST /apply?dry_run=true", deployment("shop", "calm"))).status).toBe(200);
  expect((await send(by, "POST /apply?dry_run=true", block(deployment("shop", "calm")))).status).toBe(200);
});

describe.each(principals)("%s", (_, by) => {
  const wanting = (kind: string, plugin?: object) => ({
    kind,
    scope: "shop",
    name: "b",
    spec: { ...(plugin && { plugin }) },
  });
  const bodies: [string, object][] = [
    ["a plugin from a git address", wanting("strange", { repo: "git://127.0.0.1/x" })],
    ["a plugin from a folder", wanting("strange", { repo: "file:///tmp/x" })],
    ["a plugin from a release", wanting("strange", { repo: "eve/strange" })],
    ["a plugin that the operator named a source for", wanting("known")],
  ];
  test.each(bodies)("does not bring %s, also in a dry run", async (_what, body) => {
    seen.length = 0;
    for (const request of ["POST /apply", "POST /apply?dry_run=true"]) {
      const { status, error } = await send(by, request, body);
      expect([status, error]).toEqual([403, expect.stringContaining("which takes the scope admin")]);
    }
    expect(seen).toEqual([]);
  });

  test.each([
    ["POST /plugins/install", { source: "eve/strange" }],
    ["POST /plugins/install", { source: "eve/strange", preview: true }],
    ["POST /plugins/mirror/update", {}],
    ["POST /plugins/mirror/rollback", undefined],
    ["POST /plugins/mirror/disable", undefined],
    ["POST /plugins/mirror/enable", undefined],
    ["DELETE /plugins/mirror", undefined],
  ])("%s %j is refused before anything is fetched", async (request, body) => {
    seen.length = 0;
    expect((await send(by, request, body)).status).toBe(403);
    expect(seen).toEqual([]);
  });
});

describe("what an operator has taken away", () => {
  const at = { kind: "deployment", scope: "shop", name: "gone" };
  const bind = { volumes: ["/srv:/data"] };
  const specNow = () => it.store.manifests.get(at)?.spec;

  test.each<[string, (by: Principal) => Promise<{ status: number }>]>([
    ["a rollback", (by) => send(by, "POST /rollback?scope=shop&name=gone")],
    ["a dry run of one", (by) => send(by, "POST /rollback?scope=shop&name=gone&dry_run=true")],
    ["an apply of what was there", (by) => send(by, "POST /apply", deployment("shop", "gone", bind))],
  ])("does not come back by %s", async (_, back) => {
    await it.apply(deployment("shop", "gone", bind));
    await it.settle();
    await it.apply(deployment("shop", "gone", { env: { A: "1" } }));
    await it.settle();
    const before = specNow();
    for (const [, by] of principals) expect((await back(by)).status).toBe(403);
    expect(specNow()).toEqual(before);
    expect((await back(operator)).status).toBe(200);
    await it.settle();
  });

  test("does not come back by an abort, which an operator may", async () => {
    await it.apply(deployment("shop", "gone", bind));
    await it.settle();
    const stuck = { min_ready: "1h", progress_deadline: "2h" };
    await it.apply(deployment("shop", "gone", { env: { A: "2" }, rollout: stuck }));
    await it.quiet();
    const abort = (by: Principal) => send(by, "POST /rollouts/abort?scope=shop&name=gone");
    for (const [, by] of principals) expect((await abort(by)).status).toBe(403);
    expect(specNow()?.volumes).toBeUndefined();
    expect((await abort(operator)).status).toBe(200);
    expect(specNow()?.volumes).toEqual(bind.volumes);
    await it.settle();
  });

  test("config that restarts, a restart and a release run change no spec", async () => {
    await it.apply(deployment("shop", "gone", { env: { A: "3" } }));
    await it.settle();
    const before = specNow();
    const config = await send(token, "POST /config?scope=shop&name=gone&restart=true", { volumes: "/:/h" });
    expect(config.status).toBe(200);
    expect((await send(token, "POST /restart?scope=shop&name=gone&wait=false")).status).toBeLessThan(300);
    await it.settle();
    expect(specNow()).toEqual(before);
  });
});

test("an atomic apply of a token that fails puts back what stood, the folder of the machine too", async () => {
  const bind = { volumes: ["/srv:/data"], rollout: { progress_deadline: "20s", min_ready: "0s" } };
  await it.apply(deployment("shop", "both", bind));
  await it.settle();
  const broken = { rollout: { progress_deadline: "20s", min_ready: "1h" } };
  const dropped = deployment("shop", "both", { ...broken, volumes: [] });
  expect((await send(token, "POST /apply?atomic=true", dropped)).status).toBe(200);
  await it.advance(60_000);
  expect(it.store.manifests.get({ kind: "deployment", scope: "shop", name: "both" })?.spec.volumes).toEqual(
    bind.volumes,
  );
});

test("a failed release of a token does not bring back by itself what an operator took away", async () => {
  const key = { kind: "deployment", scope: "shop", name: "auto" };
  const spec = (more: object) =>
    deployment("shop", "auto", { rollout: { progress_deadline: "20s", min_ready: "0s" }, ...more });
  const broken = { progress_deadline: "20s", min_ready: "1h" };
  const volumes = () => it.store.manifests.get(key)?.spec.volumes;
  for (const by of [token, operator]) {
    await it.apply(spec({ volumes: ["/srv:/data"] }));
    await it.settle();
    // Before this one is good, somebody else applies.
    await it.apply(spec({ env: { A: "1" }, rollout: broken }));
    await it.quiet();
    expect((await send(by, "POST /apply", spec({ env: { A: "2" }, rollout: broken }))).status).toBe(200);
    await it.advance(60_000);
    expect(it.store.releases.list(key).find(({ cause }) => cause === "apply")?.status).toBe("failed");
    expect(volumes()).toEqual(by === operator ? ["/srv:/data"] : undefined);
  }
});

test.each([
  ["a change of config", "POST /config?scope=shop&name=again", { A: "1" }],
  ["a key that is unset", "DELETE /config?scope=shop&name=again&key=OLD", undefined],
])("%s tries a failed release again, with the rights of who asks for it", async (_, request, body) => {
  const key = { kind: "deployment", scope: "shop", name: "again" };
  const spec = (more: object) =>
    deployment("shop", "again", { rollout: { progress_deadline: "20s", min_ready: "0s" }, ...more });
  const broken = { progress_deadline: "20s", min_ready: "1h" };
  for (const by of [token, operator]) {
    await send(operator, "POST /config?scope=shop&name=again&restart=false", { OLD: "1", A: "0" });
    await it.apply(spec({ volumes: ["/srv:/data"] }));
    await it.settle();
    await it.apply(spec({ env: { A: "1" }, rollout: { ...broken, auto_rollback: false } }));
    await it.advance(60_000);
    expect(it.store.releases.list(key)[0]).toMatchObject({ status: "failed" });
    // The switch is no matter of the machine.
    expect((await send(token, "POST /apply", spec({ env: { A: "1" }, rollout: broken }))).status).toBe(200);
    await it.advance(60_000);
    expect(it.store.manifests.get(key)?.spec.volumes).toBeUndefined();
    expect((await send(by, request, body)).status).toBe(200);
    expect(it.store.releases.list(key)[0]).toMatchObject({ cause: "config" });
    await it.advance(60_000);
    expect(it.store.manifests.get(key)?.spec.volumes).toEqual(by === operator ? ["/srv:/data"] : undefined);
  }
});

test("a release that a token only runs again has the rights of the token", async () => {
  const key = { kind: "deployment", scope: "shop", name: "phase" };
  const endPhase = async () => {
    await it.quiet();
    it.runtime.crash(it.runtime.containers().find(({ name }) => name.includes("-release."))?.name ?? "", 0);
    await it.settle();
  };
  await it.apply(deployment("shop", "phase", { release: { command: ["migrate"] } }));
  await endPhase();
  for (const by of [token, operator]) {
    const run = new Request("http://localhost/releases/run?scope=shop&name=phase", { method: "POST" });
    const answer = await app.behind(run, by);
    const [latest] = it.store.releases.list(key);
    expect([latest?.cause, latest?.lesser]).toEqual(["release_run", by === operator ? undefined : true]);
    await endPhase();
    await answer.text();
  }
});

test("a scope of a preview gets no more than any other", async () => {
  const put = await send(token, "PUT /previews?of=shop&branch=fix&for=1h");
  expect(put.status).toBeLessThan(500);
  for (const [what, manifest] of reachingManifests.filter(([, { kind }]) => kind !== "registry")) {
    const there = { ...manifest, scope: "shop-fix" };
    expect([what, (await send(token, "POST /apply?dry_run=true", there)).status]).toEqual([what, 403]);
  }
});
