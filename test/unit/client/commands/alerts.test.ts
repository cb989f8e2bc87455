import { describe, expect, test } from "bun:test";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const at = "2026-01-01T23:50:00.000Z";
const alert = {
  ...{ id: "a1", rule: "down", severity: "critical", state: "firing", title: "shop/web is down", detail: "0 of 2" },
  ...{ labels: { scope: "shop", name: "web" }, since: at, fired_at: at, sent_at: at },
  acknowledged: { by: "ana", at },
  why: { changes: ["23:49 UTC manifest.apply"], lines: ["no\u001b[2J database"], next: ["berth why shop/web"] },
};
const rule = {
  ...{ name: "down", origin: "default", severity: "critical", for: "1m", keep: "1m", enabled: true, firing: 1 },
  watch: { type: "platform", condition: "down" },
};
const channel = {
  ...{
    name: "phone",
    type: "ntfy",
    target: "ntfy.sh/abc…",
    min_severity: "info",
    apps: [],
    lines: true,
    created_at: at,
  },
  last: { at, status: "dropped", result: "status 403" },
};
const silence = { id: "s1", matcher: { app: "shop/*" }, by: "ana", created_at: at, until: "2026-01-02T02:00:00.000Z" };

function scene() {
  const calls: Call[] = [];
  const server = (call: Call): unknown => {
    calls.push(call);
    const route = `${call.method} ${call.path}`;
    const answers: Record<string, unknown> = {
      "GET /alerts": { alerts: [alert], blind: [{ rule: "disk", problem: "no figures" }] },
      "GET /alerts/history": { alerts: [{ ...alert, state: "resolved", resolved_at: "2026-01-01T23:55:00.000Z" }] },
      "GET /alerts/a1": alert,
      "POST /alerts/a1/acknowledge": alert,
      "GET /alerts/rules": { rules: [rule] },
      "GET /alerts/rules/down": rule,
      "PUT /alerts/rules/down": { ...rule, for: "3m" },
      "PUT /alerts/rules/panic": { ...rule, name: "panic", watch: { type: "log", pattern: "panic:" } },
      "DELETE /alerts/rules/down": { name: "down", restored: true },
      "GET /alerts/silences": { silences: [silence] },
      "POST /alerts/silences": silence,
      "DELETE /alerts/silences/s1": silence,
      "GET /alerts/channels": { channels: [channel] },
      "PUT /alerts/channels/phone": channel,
      "DELETE /alerts/channels/phone": channel,
      "POST /alerts/channels/phone/test": { status: "dropped", result: "status 403: this topic needs a token" },
      "GET /alerts/deliveries": { deliveries: [] },
      "GET /alerts/heartbeat": {
        enabled: true,
        target: "hc.example",
        every: "5m",
        state: "ok",
        last_ok_at: at,
        failures: 0,
      },
      "PUT /alerts/heartbeat": { enabled: true, target: "hc.example", every: "1m", state: "waiting", failures: 0 },
      "DELETE /alerts/heartbeat": { enabled: false, state: "off", failures: 0 },
    };
    return answers[route] ?? refusal(404, `no ${route}`);
  };
  return { calls, run: (words: string[], more = {}) => cli(["alerts", ...words], { server, ...more }) };
}

describe("alerts", () => {
  test("lists what fires, and which rules are blind", async () => {
    const { out, code } = await scene().run([]);
    expect(code).toBe(0);
    expect(out).toContain("a1  critical  firing (acknowledged by ana)  10m  shop/web is down");
    expect(out).toContain("rule disk cannot be evaluated: no figures");
  });

  test("show has the why, without control characters of the output", async () => {
    const { out } = await scene().run(["show", "a1"]);
    for (const text of ["changed before", "last lines", "berth why shop/web"]) expect(out).toContain(text);
    expect(out).not.toContain("\u001b");
  });

  test("history says how long each took", async () => {
    const { out, calls } = await scene().run(["history", "shop/web", "--rule", "down"]);
    expect(out).toContain("5m");
    expect(calls[0]?.query).toEqual({ scope: "shop", name: "web", rule: "down" });
  });

  test("ack sends the note", async () => {
    const { calls } = await scene().run(["ack", "a1", "-m", "on it"]);
    expect(calls).toMatchObject([{ body: { note: "on it" } }]);
  });

  test("a limit of a rule is read with what it counts", async () => {
    const limited = { ...rule, watch: { type: "platform", condition: "disk_full", limit: 90 } };
    const { out } = await cli(["alerts", "rules"], { server: () => ({ rules: [limited] }) });
    expect(out.trimEnd()).toEndWith("disk full, limit 90 %");
  });

  test("rules set keeps what is not given, and makes new ones from flags", async () => {
    const { calls, run } = scene();
    await run(["rules", "set", "down", "--for", "3m"]);
    expect(calls.at(-1)?.body).toEqual({
      ...{ watch: rule.watch, severity: "critical", for: "3m", keep: "1m", enabled: true },
    });
    await run(["rules", "set", "panic", "--log", "panic:", "--more-than", "2", "--app", "shop/*"]);
    expect(calls.at(-1)?.body).toEqual({
      watch: { type: "log", pattern: "panic:", more_than: 2 },
      apps: ["shop/*"],
    });
    await run(["rules", "disable", "down"]);
    expect(calls.at(-1)?.body).toMatchObject({ enabled: false });
    expect((await run(["rules", "delete", "down"])).out).toBe("rule down is the default again\n");
    expect((await run(["rules"])).out).toContain("down");
  });

  test("silence, silences and unsilence", async () => {
    const { calls, run } = scene();
    expect((await run(["silence", "shop/*", "--for", "2h", "-m", "works"])).out).toContain("berth alerts unsilence s1");
    expect(calls.at(-1)?.body).toEqual({ matcher: { app: "shop/*" }, for: "2h", reason: "works" });
    expect((await run(["silences"])).out).toContain("app shop/*");
    expect((await run(["unsilence", "s1"])).out).toBe("no longer silent: app shop/*\n");
  });

  test("channels add puts secrets into the body alone, also from stdin", async () => {
    const { calls, run } = scene();
    await run(["channels", "add", "phone", "ntfy", "https://ntfy.sh/t", "--token", "-", "--replace"], {
      stdin: "tk\n",
    });
    expect(calls.at(-1)?.body).toEqual({ target: { type: "ntfy", url: "https://ntfy.sh/t", token: "tk" } });
    await run([
      "channels",
      "add",
      "phone",
      "telegram",
      "--chat=-100",
      "--token",
      "x",
      "--min-severity",
      "critical",
      "--replace",
    ]);
    expect(calls.at(-1)?.body).toEqual({
      target: { type: "telegram", chat: "-100", token: "x" },
      min_severity: "critical",
    });
    await run(["channels", "add", "phone", "mail", "ana@example.com", "bo@example.com", "--no-lines", "--replace"]);
    expect(calls.at(-1)?.body).toEqual({
      target: { type: "mail", to: ["ana@example.com", "bo@example.com"] },
      lines: false,
    });
  });

  test("channels add replaces a channel only when told to", async () => {
    const { calls, run } = scene();
    const { err, code } = await run(["channels", "add", "phone", "ntfy", "https://ntfy.sh/t"]);
    expect(code).toBe(5);
    expect(err).toContain("the channel phone exists and sends to ntfy.sh/abc… (ntfy): replace it?");
    expect(err).toContain("add --replace");
    expect(calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("channels test exits with 1 when the message did not arrive", async () => {
    const { out, code } = await scene().run(["channels", "test", "phone"]);
    expect([out, code]).toEqual(["not delivered: status 403: this topic needs a token\n", 1]);
  });

  test("channels are listed with their last message", async () => {
    const { out } = await scene().run(["channels"]);
    expect(out).toContain("ntfy.sh/abc…");
    expect(out).toContain("10m ago: status 403");
    expect((await scene().run(["channels", "log"])).out).toBe("no messages\n");
    expect((await scene().run(["channels", "remove", "phone"])).out).toBe("channel phone is removed\n");
  });

  test("heartbeat shows, sets and ends the pings", async () => {
    const { run } = scene();
    expect((await run(["heartbeat"])).out).toBe("pings hc.example every 5m: ok; the last ping arrived 10m ago\n");
    expect((await run(["heartbeat", "set", "https://hc.example/x", "--every", "1m"])).out).toContain("every 1m");
    expect((await run(["heartbeat", "off"])).out).toBe("the pings have ended\n");
  });

  test.each([
    [["show"], "say which alert"],
    [["silence", "shop/web"], "--for 2h"],
    [["channels", "add", "a"], "NAME TYPE TARGET"],
    [["channels", "add", "a", "pigeon", "x"], "use one of webhook, mail"],
    [["rules", "set", "new"], "--log, --failed, --p99 or --metric"],
    [["rules", "set", "down", "--threshold", "many"], "not a number"],
    [["heartbeat", "set"], "say where to"],
  ])("%j is a usage error that says what is missing", async (words, text) => {
    const { code, err } = await scene().run(words);
    expect([code, err]).toEqual([2, expect.stringContaining(text)]);
  });
});
