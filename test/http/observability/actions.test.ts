import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AuditRow } from "../../../src/observability/api/activity.ts";
import { ownsMachine, type Principal } from "../../../src/access/principal.ts";
import { actorHeader } from "../../../src/base/wire/client.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import type { Operation } from "../../../src/observability/api/operations.ts";
import { appFacts, replicaFacts } from "../../support/app-facts.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const web = appFacts({
  pods: [replicaFacts({ upSince: 0 }), replicaFacts({ id: "c2", name: "shop-web.fghij", replicaId: "fghij" })],
  replicas: 2,
});
const other = appFacts({ scope: "back", name: "api", pods: [] });
const settled = {
  ...web,
  revision: 5,
  status: { ...web.status, phase: "ready", observedRevision: 5 } as typeof web.status,
};

let it: PlaneWorld;
beforeEach(() => {
  it = planeWorld({ apps: [web, other], limits: unlimited });
});
afterEach(() => it.close());

const rates = { burst: 1_000, perMinute: 1_000 };
const unlimited = {
  rates: { actions: rates, clicks: rates, reads: rates, failures: rates, refusals: rates, keysMax: 10 },
};
const operation = (answer: { data: Record<string, unknown> }) => answer.data.operation as Operation;
const callsOf = (...methods: string[]) => it.calls.filter(({ method }) => methods.includes(method));

describe("actions on one app", () => {
  test("answer 202 with an operation, and are on record as the token's", async () => {
    const token = await it.token(["actions"]);
    const answer = await it.ask("POST /apps/shop/web/restart", { token });
    expect([answer.status, answer.error]).toEqual([202, ""]);
    expect(operation(answer)).toMatchObject({
      type: "restart",
      app: { kind: "deployment", scope: "shop", name: "web" },
    });
    const [call] = callsOf("restart");
    const actor = `pat:${token.slice(4, 10)}`;
    expect(call?.args).toEqual([
      { kind: "deployment", scope: "shop", name: "web" },
      expect.objectContaining({ wait: false, actor }),
    ]);
    expect(it.store.audit.list({ limit: 1 })[0]).toMatchObject({
      actor,
      action: "POST /api/pat/v1/apps/:scope/:name/restart",
      outcome: "ok",
    });
  });

  test.each([
    ["POST /apps/shop/web/scale?replicas=3", "scale"],
    ["POST /apps/shop/web/rollback?message=oops", "rollback"],
    ["POST /apps/shop/web/pause", "tellRollout"],
    ["POST /apps/shop/web/resume", "tellRollout"],
    ["POST /apps/shop/web/promote", "tellRollout"],
    ["POST /apps/shop/web/abort", "tellRollout"],
    ["POST /apps/shop/web/freeze?replica=fghij", "stopPod"],
    ["POST /apps/shop/web/start?replica=fghij", "startPod"],
  ])("%s", async (request, method) => {
    const token = await it.token(["actions"]);
    const answer = await it.ask(request, { token });
    expect([answer.status, answer.error]).toEqual([202, ""]);
    expect(callsOf(method)).toHaveLength(1);
  });

  test.each([
    ["POST /apps/shop/web/rollback", "rollback"],
    ["POST /apps/shop/web/abort", "tellRollout"],
  ])("%s carries the rights of its token, whatever that has", async (request, method) => {
    for (const scopes of [["actions"], ["actions", "admin"]]) {
      await it.ask(request, { token: await it.token(scopes) });
      expect(callsOf(method).at(-1)?.args[1]).toMatchObject({ by: { type: "token", scopes, apps: [] } });
    }
  });

  test("a stop ends every replica, and is over when none runs", async () => {
    const token = await it.token(["actions", "read"]);
    const begun = operation(await it.ask("POST /apps/shop/web/stop", { token }));
    expect(callsOf("stopPod").map(({ args }) => args[0])).toEqual(["shop-web.abcde", "shop-web.fghij"]);
    expect(begun.state).toBe("running");
    const halted = web.pods.map((pod) => ({ ...pod, state: "exited", frozen: true, ready: false, upSince: undefined }));
    it.watch.put({ ...web, frozenIds: ["abcde", "fghij"], pods: halted });
    await it.ask("GET /apps", { token });
    const now = (await it.ask(`GET /operations/${begun.id}`, { token })).data;
    expect(now).toMatchObject({ state: "succeeded", text: "2 replicas are stopped", ended_at: expect.any(String) });
  });

  test("a change is followed until the app is as it was asked for, or has failed", async () => {
    const token = await it.token(["actions", "read"]);
    it.watch.put({ ...web, revision: 5 });
    const begun = operation(await it.ask("POST /apps/shop/web/scale?replicas=2", { token }));
    expect([begun.state, begun.text]).toEqual(["running", "about to begin"]);
    it.watch.put(settled);
    await it.ask("GET /apps", { token });
    expect((await it.ask(`GET /operations/${begun.id}`, { token })).data.state).toBe("succeeded");
    it.watch.put({ ...settled, revision: 6 });
    const second = operation(await it.ask("POST /apps/shop/web/restart", { token }));
    it.watch.remove(web);
    await it.ask("GET /apps", { token });
    expect((await it.ask(`GET /operations/${second.id}`, { token })).data).toMatchObject({
      state: "failed",
      error: "it was deleted",
    });
  });

  test("need the scope actions, and an app within reach", async () => {
    const reader = await it.token(["read"]);
    const refused = await it.ask("POST /apps/shop/web/restart", { token: reader });
    expect([refused.status, refused.error]).toEqual([403, expect.stringContaining("actions")]);
    const limited = await it.token(["actions", "read"], { apps: ["shop"] });
    expect((await it.ask("POST /apps/back/api/restart", { token: limited })).status).toBe(404);
    const everyone = await it.token(["actions", "read"]);
    const id = operation(await it.ask("POST /apps/back/api/restart", { token: everyone })).id;
    expect((await it.ask(`GET /operations/${id}`, { token: limited })).status).toBe(404);
    expect((await it.ask("GET /operations", { token: limited })).data.operations).toEqual([]);
    expect((await it.ask("GET /operations?app=back", { token: everyone })).data.operations).toHaveLength(1);
    expect((await it.ask("GET /operations?app=a/b/c", { token: everyone })).status).toBe(400);
  });

  test("a replica that the app does not have is a 404 that names those it has", async () => {
    const token = await it.token(["actions"]);
    const answer = await it.ask("POST /apps/shop/web/stop?replica=zzzzz", { token });
    expect([answer.status, answer.error]).toEqual([404, expect.stringContaining("it has abcde, fghij")]);
  });

  test("what the platform refuses comes as it is", async () => {
    it.close();
    const error = new Failure("conflict", "an autoscaler decides the count of shop/web");
    const scale = () => Promise.reject(error);
    it = planeWorld({ apps: [web], controller: { scale }, limits: unlimited });
    const token = await it.token(["actions"]);
    const answer = await it.ask("POST /apps/shop/web/scale?replicas=1", { token });
    expect([answer.status, answer.error]).toEqual([409, error.message]);
  });
});

describe("applies", () => {
  const manifest = { kind: "deployment", scope: "shop", name: "web", spec: { image: "web:2" } };

  test("a dry run writes nothing, an apply is followed", async () => {
    const token = await it.token(["actions"]);
    expect((await it.ask("POST /apply?dry_run=true", { token, body: manifest })).status).toBe(200);
    expect(callsOf("apply")[0]?.args[1]).toMatchObject({ dryRun: true, actor: `pat:${token.slice(4, 10)}` });
    const reader = await it.token(["read"]);
    expect((await it.ask("POST /apply?dry_run=true", { token: reader, body: manifest })).status).toBe(403);
  });

  test.each<[string, unknown, string]>([
    ["another app", { ...manifest, scope: "back" }, "deployment/back/web is out of reach"],
    ["a registry", { kind: "registry", name: "hub", spec: {} }, "is out of reach"],
    ["an ingress", { ...manifest, kind: "ingress" }, "may apply only"],
    ["a plugin's block", { ...manifest, kind: "postgres" }, "may apply only"],
    ["a folder of the machine", { ...manifest, spec: { volumes: ["/:/host"] } }, "the field volumes"],
    ["options of the engine", { ...manifest, spec: { docker_options: ["--privileged"] } }, "the field docker_options"],
    ["a field of a later version", { ...manifest, spec: { devices: ["/dev/sda"] } }, "the field devices"],
    ["a job inside", { ...manifest, kind: "cronjob", spec: { job: { networks: ["x"] } } }, "the field networks"],
    ["a value of another", { ...manifest, spec: { env: { A: "${ref.deployment.db.host}" } } }, "references"],
    ["one of several", [manifest, { ...manifest, name: "api", scope: "back" }], "deployment/back/api"],
  ])("a token that is limited to apps may not apply %s", async (_, body, error) => {
    const token = await it.token(["actions"], { apps: ["shop"] });
    const answer = await it.ask("POST /apply", { token, body });
    expect([answer.status, answer.error]).toEqual([403, expect.stringContaining(error)]);
    expect(callsOf("apply")).toEqual([]);
  });

  test.each([
    [["actions"], false],
    [["actions", "admin"], true],
  ])("a token with %j is the principal of its apply, and owns the machine: %j", async (scopes, owns) => {
    const token = await it.token(scopes as ("actions" | "admin")[]);
    expect((await it.ask("POST /apply?dry_run=true", { token, body: manifest })).status).toBe(200);
    const { by } = Object(callsOf("apply")[0]?.args[1]) as { by: Principal };
    expect(by).toEqual({ type: "token", scopes, apps: [] });
    expect(ownsMachine(by)).toBe(owns);
  });

  test("the parameter confined is not known any more, on both planes", async () => {
    const token = await it.token(["actions", "admin"]);
    for (const target of ["/apply?confined=false", "/apply?confined=true&dry_run=true"]) {
      expect((await it.ask(`POST ${target}`, { token, body: manifest })).status).toBe(400);
      expect((await it.manage(`POST ${target}`, manifest)).status).toBe(400);
    }
    expect(callsOf("apply")).toEqual([]);
  });

  test("an earlier state is applied by tokens that own the machine and may change apps, and by no others", async () => {
    const at = "2026-11-28T14:05:00Z";
    for (const scopes of [["actions"], ["read", "admin"]] as ("actions" | "read" | "admin")[][]) {
      const answer = await it.ask(`POST /history/restore?at=${at}`, { token: await it.token(scopes) });
      expect([answer.status, answer.error]).toEqual([403, expect.stringContaining("admin")]);
    }
    expect(callsOf("restoreHistory")).toEqual([]);
    const token = await it.token(["admin", "actions"]);
    expect((await it.ask(`POST /history/restore?at=${at}&dry_run=true&scope=shop`, { token })).status).toBe(200);
    const [which, how] = callsOf("restoreHistory")[0]?.args ?? [];
    expect(which).toMatchObject({ at, scope: "shop" });
    expect(how).toMatchObject({ dryRun: true, actor: `pat:${token.slice(4, 10)}`, by: { type: "token" } });
  });

  test("no header names a principal: with the actor of an operator a token stays a token", async () => {
    const token = await it.token(["actions"]);
    const headers = { [actorHeader]: "operator", "X-Berth-Principal": "operator", "X-Berth-Run": "operator" };
    await it.ask("POST /apply?dry_run=true", { token, body: manifest, headers });
    expect(callsOf("apply")[0]?.args[1]).toMatchObject({ by: { type: "token", scopes: ["actions"] } });
  });

  test("nor prune, but it may change what runs inside of its apps", async () => {
    const token = await it.token(["actions"], { apps: ["shop"] });
    expect((await it.ask("POST /apply?prune=true", { token, body: manifest })).status).toBe(403);
    expect((await it.ask("POST /apply", { token, body: manifest })).status).toBeLessThan(300);
    expect(callsOf("apply")).toHaveLength(1);
  });

  test("a delete wants the name once more", async () => {
    const token = await it.token(["actions"]);
    const first = await it.ask("DELETE /manifests/deployment/shop/web?prune=true", { token });
    expect([first.status, first.error]).toEqual([
      400,
      expect.stringContaining("confirm=shop/web to delete the app with"),
    ]);
    const done = await it.ask("DELETE /manifests/deployment/shop/web?confirm=shop/web", { token });
    expect([done.status, done.error]).toEqual([200, ""]);
    // An app goes with the ingress in front of it.
    const whole = await it.ask("DELETE /manifests/app/shop/web?confirm=shop/web", { token });
    expect([whole.status, whole.error]).toEqual([200, ""]);
    expect(callsOf("deleteManifest").map(({ args: [target] }) => (target as { kind: string }).kind)).toEqual([
      "deployment",
      "app",
    ]);
  });
});

describe("releases and manifests", () => {
  test("are within reach or do not exist", async () => {
    const token = await it.token(["read"], { apps: ["shop"] });
    expect((await it.ask("GET /apps/shop/web/releases", { token })).status).toBe(200);
    expect((await it.ask("GET /apps/back/api/releases", { token })).status).toBe(404);
    expect((await it.ask("GET /manifests", { token })).data.manifests).toEqual([]);
    const everyone = await it.token(["read"]);
    expect((await it.ask("GET /manifests", { token: everyone })).data.manifests).not.toEqual([]);
  });
});

describe("config", () => {
  const start = () => {
    it.close();
    const buckets: Record<string, Record<string, string>> = {
      "": { LOG: "debug", URL: "x" },
      web: { URL: "secret-url" },
    };
    it = planeWorld({
      apps: [web],
      limits: unlimited,
      controller: { getConfig: ({ name }) => ({ vars: buckets[name ?? ""] ?? {} }) },
    });
  };
  beforeEach(start);

  test("is told by names and lengths", async () => {
    const token = await it.token();
    const answer = await it.ask("GET /config/shop/web", { token });
    expect(answer.data).toEqual({
      scope: "shop",
      name: "web",
      keys: [
        { key: "LOG", length: 5, origin: "scope" },
        { key: "URL", length: 10, origin: "app", overrides: true },
      ],
    });
    expect(answer.text).not.toContain("secret-url");
    expect((await it.ask("GET /config/shop", { token })).data.keys).toHaveLength(2);
  });

  test("values need config:reveal, and each look is on record with the keys", async () => {
    const reader = await it.token(["read", "actions", "admin"]);
    const body = { keys: ["URL"] };
    expect((await it.ask("POST /config/shop/web/reveal", { token: reader, body })).status).toBe(403);
    const token = await it.token(["config:reveal"]);
    const answer = await it.ask("POST /config/shop/web/reveal", { token, body });
    expect([answer.data, answer.headers.get("cache-control")]).toEqual([{ vars: { URL: "secret-url" } }, "no-store"]);
    const entries = it.store.audit.list({ limit: 10 });
    expect(entries).toContainEqual(
      expect.objectContaining({ action: "config.reveal", target: "shop/web", params: { keys: "URL" } }),
    );
    expect(JSON.stringify([entries, it.lines])).not.toContain("secret-url");
    expect((await it.ask("POST /config/shop/web/reveal", { token, body: { keys: ["NO"] } })).status).toBe(404);
    expect((await it.ask("POST /config/shop/web/reveal", { token, body: { keys: [] } })).status).toBe(400);
  });

  test("keys are set and unset in one step", async () => {
    const token = await it.token(["actions"]);
    const body = { set: { A: "1" }, unset: ["B"] };
    expect((await it.ask("PATCH /config/shop/web?restart=false", { token, body })).status).toBe(200);
    expect(callsOf("setConfig")[0]?.args).toEqual([
      { scope: "shop", name: "web" },
      { A: "1", B: "" },
      {
        ...{ restart: false, dryRun: false, actor: `pat:${token.slice(4, 10)}` },
        by: { type: "token", scopes: ["actions"], apps: [] },
      },
    ]);
    // Who changed what is on record by its names.
    const admin = await it.token(["admin"]);
    const { rows } = (await it.ask("GET /audit?action=PATCH", { token: admin })).data as { rows: AuditRow[] };
    expect(rows[0]).toMatchObject({ scope: "shop", name: "web", params: { keys: "A,B" } });
    for (const wrong of [{ set: { A: "" } }, { set: { A: "1" }, unset: ["A"] }, { sets: {} }]) {
      expect((await it.ask("PATCH /config/shop/web", { token, body: wrong })).status).toBe(400);
    }
  });

  test("that of a scope is for tokens that reach all of it", async () => {
    const limited = await it.token(["read"], { apps: ["shop/web"] });
    expect((await it.ask("GET /config/shop", { token: limited })).status).toBe(404);
    expect((await it.ask("GET /config/shop/web", { token: limited })).status).toBe(200);
    const whole = await it.token(["read"], { apps: ["shop"] });
    expect((await it.ask("GET /config/shop", { token: whole })).status).toBe(200);
  });
});
