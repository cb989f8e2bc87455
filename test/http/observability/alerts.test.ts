import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

let it: PlaneWorld;

beforeEach(() => {
  it = planeWorld({
    controller: {
      listManifests: () => [
        {
          ...{ kind: "deployment", scope: "shop", name: "web", spec: {} },
          status: { phase: "failing", replicas: 2, ready_replicas: 0, conditions: [], releases: [] },
        },
      ],
    },
  });
});
afterEach(() => it.close());

const hook = { target: { type: "webhook", url: "https://ops.example/hook" } };

/** `shop/web` is down for long enough. */
async function fire(): Promise<string> {
  const { alerts } = it.running.observability;
  for (let look = 0; look < 6; look += 1) {
    it.clock.moveTo(it.clock.steady() + 15_000);
    await alerts.look();
  }
  const { data } = await it.manage("GET /alerts");
  const [alert] = data.alerts as { id: string; rule: string }[];
  return alert?.id ?? "";
}

describe("alerts", () => {
  test("are listed, read and acknowledged with a token and by an operator", async () => {
    const id = await fire();
    const token = await it.token(["read", "actions"]);
    const list = await it.ask("GET /alerts", { token });
    expect(list.data.alerts).toMatchObject([{ id, rule: "down", state: "firing", title: "shop/web is down" }]);
    const acknowledged = await it.ask(`POST /alerts/${id}/acknowledge`, { token, body: { note: "on it" } });
    expect(acknowledged.data.acknowledged).toMatchObject({ by: expect.stringMatching(/^pat:/), note: "on it" });
    expect((await it.manage(`GET /alerts/${id}`)).data).toMatchObject({ id, acknowledged: { note: "on it" } });
    expect((await it.manage("GET /alerts/history?scope=shop&limit=1")).data.alerts).toHaveLength(1);
    expect((await it.manage("GET /alerts/history?limit=many")).status).toBe(400);
  });

  test("of other apps are not there for a token that is limited", async () => {
    const id = await fire();
    const token = await it.olderToken(["read", "actions", "admin"], ["blog/*"]);
    expect((await it.ask("GET /alerts", { token })).data.alerts).toEqual([]);
    expect((await it.ask("GET /alerts/history", { token })).data.alerts).toEqual([]);
    expect((await it.ask(`GET /alerts/${id}`, { token })).status).toBe(404);
    expect((await it.ask(`POST /alerts/${id}/acknowledge`, { token, body: {} })).status).toBe(404);
    expect((await it.ask("GET /alerts/deliveries", { token })).status).toBe(403);
    expect((await it.ask("PUT /alerts/channels/a", { token, body: hook })).status).toBe(403);
  });

  test("rules and silences that name other apps are not there for a token that is limited", async () => {
    const rule = { watch: { type: "log", pattern: "panic" }, severity: "critical" };
    for (const app of ["shop/web", "blog/web"]) {
      const name = app.replace("/", "-");
      const made = await it.manage(`PUT /alerts/rules/${name}`, { ...rule, apps: [app] });
      expect([made.status, made.error ?? ""]).toEqual([200, ""]);
      await it.manage("POST /alerts/silences", {
        ...{ matcher: { app: app.replace("web", "*") }, for: "1h", reason: `works on ${app}` },
      });
    }
    expect((await it.manage("POST /alerts/silences", { matcher: { rule: "down" }, for: "1h" })).status).toBe(200);
    const token = await it.token(["read"], { apps: ["blog"] });
    const rules = (await it.ask("GET /alerts/rules", { token })).data.rules as { name: string }[];
    expect(rules.map(({ name }) => name)).toContain("blog-web");
    expect(rules.map(({ name }) => name)).toContain("down");
    const silences = await it.ask("GET /alerts/silences", { token });
    expect(silences.data.silences).toHaveLength(2);
    for (const path of ["GET /alerts/rules", "GET /alerts/silences"]) {
      expect((await it.ask(path, { token })).text).not.toContain("shop");
    }
    expect((await it.ask("GET /alerts/rules/shop-web", { token })).status).toBe(404);
    expect((await it.manage("GET /alerts/rules/shop-web")).status).toBe(200);
  });

  test.each([
    ["GET /alerts/nothing", undefined, 404, 'there is no alert "nothing"'],
    ["GET /alerts/rules/nothing", undefined, 404, 'there is no alert rule "nothing"'],
    ["PUT /alerts/rules/mine", { watch: { type: "requests" } }, 400, "watch: requests need a limit"],
    ["PUT /alerts/rules/mine", { watch: { type: "magic" } }, 400, "watch"],
    [
      "PUT /alerts/rules/mine",
      { watch: { type: "metric", metric: "cpu", above: 3 } },
      400,
      'watch.metric: write "cpu" with its source in front',
    ],
    ["DELETE /alerts/rules/down", undefined, 409, "part of the default pack"],
    ["POST /alerts/silences", { matcher: {}, for: "1h" }, 400, "matcher: is empty"],
    [
      "POST /alerts/silences",
      { matcher: { app: "shop/wbe" }, for: "1h" },
      400,
      'matcher.app: there is no app "shop/wbe"',
    ],
    [
      "POST /alerts/silences",
      { matcher: { rule: "dwon" }, for: "1h" },
      400,
      'matcher.rule: there is no alert rule "dwon"; did you mean "down"; the rules are backup, certificate, crash-loop, ',
    ],
    ["DELETE /alerts/silences/x", undefined, 404, 'there is no silence "x"'],
    ["PUT /alerts/channels/a", { target: { type: "mail", to: ["ana@example.com"] } }, 409, "--smtp-url"],
    ["POST /alerts/channels/a/test", undefined, 404, 'there is no alert channel "a"'],
    ["PUT /alerts/heartbeat", { url: "hc" }, 400, "url: is not an address"],
  ])("%s %j is %i: %s", async (request, body, status, error) => {
    const answer = await it.manage(request, body);
    expect([answer.status, answer.error]).toEqual([status, expect.stringContaining(error)]);
  });
});

test("rules, silences, channels and the heartbeat are put, listed and deleted", async () => {
  const rule = { watch: { type: "log", pattern: "panic" }, severity: "critical" };
  expect((await it.manage("PUT /alerts/rules/panic", rule)).data).toMatchObject({
    name: "panic",
    origin: "own",
    for: "1m",
  });
  expect((await it.manage("GET /alerts/rules")).data.rules).toHaveLength(17);
  expect((await it.manage("DELETE /alerts/rules/panic")).data).toEqual({ name: "panic", restored: false });
  expect((await it.manage("POST /alerts/silences", { matcher: { app: "shop/web" }, for: "1s" })).status).toBe(200);
  it.clock.moveTo(it.clock.steady() + 2_000);
  const silence = await it.manage("POST /alerts/silences", { matcher: { app: "shop/*" }, for: "1h", reason: "works" });
  expect(silence.data).toMatchObject({ by: "operator", reason: "works" });
  expect((await it.manage("GET /alerts/silences")).data.silences).toHaveLength(1);
  expect((await it.manage(`DELETE /alerts/silences/${silence.data.id}`)).status).toBe(200);
  expect((await it.manage("PUT /alerts/channels/ops", hook)).data).toMatchObject({ target: "ops.example" });
  expect((await it.manage("POST /alerts/channels/ops/test")).data).toMatchObject({ status: "delivered" });
  expect((await it.manage("GET /alerts/deliveries?channel=ops")).data.deliveries).toHaveLength(1);
  expect((await it.manage("DELETE /alerts/channels/ops")).status).toBe(200);
  const heartbeat = { url: "https://hc.example/secret", every: "1m" };
  expect((await it.manage("PUT /alerts/heartbeat", heartbeat)).data).toMatchObject({
    target: "hc.example",
    every: "1m",
  });
  expect((await it.manage("DELETE /alerts/heartbeat")).data).toMatchObject({ state: "off" });
});

test("a token needs admin for channels and the heartbeat, and actions for rules and silences", async () => {
  const token = await it.token(["read", "actions"]);
  expect((await it.ask("PUT /alerts/channels/a", { token, body: hook })).status).toBe(403);
  expect((await it.ask("PUT /alerts/heartbeat", { token, body: { url: "https://hc.example" } })).status).toBe(403);
  const reader = await it.token(["read"]);
  expect((await it.ask("PUT /alerts/rules/a", { token: reader, body: {} })).status).toBe(403);
  expect((await it.ask("GET /alerts/rules", { token: reader })).status).toBe(200);
});
