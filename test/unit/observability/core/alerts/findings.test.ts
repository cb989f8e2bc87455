import { describe, expect, test } from "bun:test";
import type { RuleBody } from "../../../../../src/observability/api/alert-rules.ts";
import { defaultRules } from "../../../../../src/observability/core/alerts/default-rules.ts";
import {
  type AppFact,
  askText,
  type Facts,
  type SiteFact,
} from "../../../../../src/observability/core/alerts/facts.ts";
import { findings } from "../../../../../src/observability/core/alerts/findings.ts";
import { activeRule, metricAsk, ruleProblems } from "../../../../../src/observability/core/alerts/rules.ts";

const day = 86_400_000;
const now = Date.UTC(2026, 5, 1);
const web: AppFact = {
  kind: "deployment",
  scope: "shop",
  name: "web",
  phase: "ready",
  wanted: 2,
  ready: 2,
  reason: "",
  message: "",
  hasServed: true,
};

function found(name: string, facts: Omit<Facts, "now">, more: Partial<RuleBody> = {}) {
  const body = defaultRules[name];
  if (body === undefined) throw new Error(`no rule ${name}`);
  return findings(activeRule(name, { ...body, ...more }), { now, ...facts })?.map(({ title, detail }) => [
    title,
    detail,
  ]);
}

describe("the default pack", () => {
  test("has nothing wrong with itself", () => {
    for (const [name, body] of Object.entries(defaultRules)) expect(ruleProblems(name, body)).toEqual([]);
  });

  test("says nothing about an app that is well, asleep, stopped or scaled to 0", () => {
    const apps = [
      web,
      { ...web, phase: "asleep", ready: 0 },
      { ...web, phase: "stopped", ready: 0 },
      { ...web, wanted: 0, ready: 0 },
    ];
    for (const name of ["down", "not-ready", "crash-loop", "out-of-memory", "deploy-failed"]) {
      expect(found(name, { apps })).toEqual([]);
    }
  });

  test("judges no replica while the engine is away: nobody knows how they are", () => {
    const engine = { up: false, error: "docker has not answered since 12:00" };
    const apps = [{ ...web, ready: 0, reason: "CrashLoop" }];
    for (const name of ["down", "not-ready", "crash-loop", "out-of-memory"]) {
      expect(found(name, { apps, engine })).toBeUndefined();
      expect(found(name, { apps, engine: { up: true, error: "" } })).toBeDefined();
    }
  });

  test("tells down from not ready, so that one fault is one alert", () => {
    const apps = [
      { ...web, ready: 0, message: "0 of 2 replicas ready: web.abc crashed" },
      { ...web, name: "api", ready: 1 },
    ];
    expect(found("down", { apps })).toEqual([["shop/web is down", "0 of 2 replicas ready: web.abc crashed"]]);
    expect(found("not-ready", { apps })).toEqual([["shop/api has 1 of 2 replicas ready", "1 of 2 replicas ready"]]);
  });

  test("takes an app that comes up for the first time as down only once that has failed", () => {
    const fresh = { ...web, ready: 0, phase: "progressing", hasServed: false };
    expect(found("down", { apps: [fresh] })).toEqual([]);
    expect(found("down", { apps: [{ ...fresh, phase: "failed" }] })).toHaveLength(1);
  });

  test("reports a failed deploy for a day, and that the old release is back", () => {
    const release = { id: "r7", status: "failed", endedAt: now - 1, error: "exit code 1", takenBack: true };
    expect(found("deploy-failed", { apps: [{ ...web, release }] })).toEqual([
      ["shop/web deploy failed (r7)", "exit code 1; the release before it serves again"],
    ]);
    expect(found("deploy-failed", { apps: [{ ...web, release: { ...release, endedAt: now - day - 1 } }] })).toEqual([]);
  });

  test("reports runs that failed and runs that were missed", () => {
    const run = { kind: "cronjob", scope: "shop", name: "mail", at: now, error: "exit code 2" };
    const runs = [
      { ...run, status: "failed" },
      { ...run, status: "missed", error: "the server was down" },
      { ...run, status: "succeeded" },
    ];
    expect(found("run-failed", { runs })).toEqual([["cron job shop/mail failed", "exit code 2"]]);
    expect(found("run-missed", { runs })).toEqual([["cron job shop/mail missed its schedule", "the server was down"]]);
  });

  test("counts the share of failed requests of a busy minute, or of five quiet ones", () => {
    const site = { scope: "shop", name: "web", requests: 100, failed: 6, p99Ms: 6_000 };
    const quiet = { requests: 100, failed: 6 };
    const of = (change: Partial<SiteFact>) =>
      found("error-rate", { sites: [{ ...site, fiveMinutes: quiet, ...change }] });
    const busy = [["shop/web fails 6.0 % of its requests", "6 of 100 requests of the last minute"]];
    expect(of({})).toEqual(busy);
    expect(of({ failed: 5 })).toEqual([]);
    // A busy minute without failures ends it, whatever the four before were.
    expect(of({ requests: 20, failed: 0, fiveMinutes: { requests: 120, failed: 100 } })).toEqual([]);
    expect(
      of({ requests: 3, failed: 0, fiveMinutes: { requests: 14, failed: 7 }, failsAt: "all at GET /pay" }),
    ).toEqual([["shop/web fails 50.0 % of its requests", "7 of 14 requests of the last 5 minutes, all at GET /pay"]]);
    expect(of({ requests: 2, failed: 1, fiveMinutes: { requests: 2, failed: 1 } })).toEqual([]);
    const slow = (requests: number) => found("slow-requests", { sites: [{ ...site, requests, fiveMinutes: quiet }] });
    expect(slow(20)?.[0]?.[0]).toBe("shop/web is slow: p99 6000 ms");
    expect(slow(19)).toEqual([]);
  });

  test("an app can have a share of its own", () => {
    const watch = {
      type: "requests" as const,
      failed_percent: 5,
      failed_percent_of: { "shop/web": 20, "shop/api": 1 },
    };
    const sites = ["web", "api", "mail"].map((name): SiteFact => {
      return { scope: "shop", name, requests: 500, failed: 50, p99Ms: 1, fiveMinutes: { requests: 500, failed: 50 } };
    });
    const told = findings(activeRule("error-rate", { watch }), { now, sites })?.map(({ labels }) => labels.name);
    expect(told).toEqual(["api", "mail"]);
  });

  test("reports certificates, backups, disks, the engine and the ingress", () => {
    const certificates = [
      { host: "a.example", state: "valid", expiresAt: now + 3 * day, error: "dns: no record" },
      { host: "b.example", state: "valid", expiresAt: now + 60 * day, error: "" },
      { host: "c.example", state: "failed", error: "refused" },
    ];
    expect(found("certificate", { certificates })).toEqual([
      ["the certificate of a.example ends in 3 days", "dns: no record"],
      ["no certificate for c.example", "refused"],
    ]);
    expect(found("backup", { backup: { installedAt: now - 9 * day } })?.[0]?.[0]).toBe("no backup for 9 days");
    expect(found("backup", { backup: { installedAt: 0, newestAt: now - day } })).toEqual([]);
    const ahead = { installedAt: now - 9 * day, newestAt: now + 3_650 * day };
    expect(found("backup", { backup: ahead })?.[0]?.[0]).toBe("the newest backup is dated after today");
    const failing = ["state", "shop/db/data/0", "restore shop/db/data/0", "list", "check", "size"].map((what) => {
      return { target: "vault", what, sinceAt: 0, error: "connection refused" };
    });
    expect(found("backup", { backup: { installedAt: 0, newestAt: now - day, failing } })).toEqual([
      ["copies to vault fail", "since 1970-01-01T00:00:00.000Z: connection refused"],
      ["copies of shop/db/data/0 to vault fail", "since 1970-01-01T00:00:00.000Z: connection refused"],
      ["the restore of shop/db/data/0 from vault failed", "since 1970-01-01T00:00:00.000Z: connection refused"],
      ...["copies are missing at vault", "the copies at vault are damaged", "vault is larger than it may be"].map(
        (title) => [title, "since 1970-01-01T00:00:00.000Z: connection refused"],
      ),
    ]);
    const drill = { target: "vault", what: "drill shop/db", sinceAt: 0, error: "it ended with exit code 3" };
    expect(found("backup", { backup: { installedAt: 0, newestAt: now - day, failing: [drill] } })).toEqual([
      ["no good drill of shop/db", "since 1970-01-01T00:00:00.000Z: it ended with exit code 3"],
    ]);
    const drains = [
      { name: "loki", oldestAt: now - 12 * 60_000, error: "status 401" },
      { name: "s3", oldestAt: now - 60_000, error: "" },
    ];
    expect(found("log-drain", { drains })?.map(([title]) => title)).toEqual(["the log drain loki is 12 min behind"]);
    const disks = [{ mount: "/", usedPercent: 93.7, freeBytes: 5 * 2 ** 20, readOnly: false }];
    expect(found("disk", { disks })).toEqual([["disk / is 93 % full", "5 MiB free"]]);
    const locked = disks.map((disk) => ({ ...disk, usedPercent: 8, readOnly: true }));
    expect(found("disk", { disks: locked })).toEqual([["disk / is read-only", expect.stringContaining("see dmesg")]]);
    expect(found("engine", { engine: { up: false, error: "refused" } })).toHaveLength(1);
    expect(found("ingress", { ingress: { problem: "haproxy is not installed" } })).toHaveLength(1);
  });

  test("leaves alone what could not be read", () => {
    for (const name of Object.keys(defaultRules)) expect(found(name, {})).toBeUndefined();
  });
});

test("a metric rule asks once, and reports each series beyond its limit under a title of its own", () => {
  const watch = { type: "metric" as const, metric: "app.queue", group_by: ["scope", "name"], above: 10 };
  const rule = activeRule("queue", { watch, title: "{app} has {value} jobs waiting", apps: ["shop/*"] });
  const values = [
    { labels: { scope: "shop", name: "web" }, value: 12 },
    { labels: { scope: "shop", name: "api" }, value: 3 },
    { labels: { scope: "blog", name: "web" }, value: 99 },
  ];
  const metrics = new Map([[askText(metricAsk(watch)), values]]);
  expect(findings(rule, { now, metrics })?.map(({ title }) => title)).toEqual(["shop/web has 12 jobs waiting"]);
});

test.each([
  ["Bad Name", { watch: { type: "requests", p99_ms: 1 } }, "rule name"],
  ["a", { watch: { type: "requests" } }, "need a limit"],
  ...["shop/*", "__proto__", "shop/web/x", "Shop/web", "\u001b[2J/web", "/web", "shop/"].map((app) => {
    return ["a", { watch: { type: "requests", failed_percent_of: { [app]: 5 } } }, "names no app"] as const;
  }),
  ["a", { watch: { type: "metric", metric: "x" } }, "needs a limit"],
  ["a", { watch: { type: "log", pattern: "x", within: "soon" } }, "not a duration"],
  ["a", { watch: { type: "log", pattern: "x" }, for: "1 year" }, "not a duration"],
] as [string, RuleBody, string][])("rule %s %j is refused", (name, body, text) => {
  expect(
    ruleProblems(name, body)
      .map(({ message }) => message)
      .join(),
  ).toContain(text);
});
