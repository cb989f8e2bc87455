import { describe, expect, test } from "bun:test";
import type { AppFacts, ReplicaFacts } from "../../../../../src/orchestration/api/app-facts.ts";
import { type Alarm, alarmProblems } from "../../../../../src/observability/core/apps/alarms.ts";
import { appProblems } from "../../../../../src/observability/core/apps/problems.ts";
import { judge } from "../../../../../src/observability/core/apps/state.ts";
import { appFacts, replicaFacts } from "../../../../support/app-facts.ts";

const now = 1_000_000;
const moment = { engineUp: true, now };
const pod = (over: Partial<ReplicaFacts> = {}) => replicaFacts({ upSince: now - 120_000, ...over });
const app = (over: Partial<AppFacts> = {}) => appFacts({ pods: [pod()], ...over });
const release = (status: "running" | "failed" | "succeeded", error?: string): AppFacts["release"] => ({
  id: "r1",
  status,
  cause: "apply",
  actor: "ana",
  message: undefined,
  image: "web:2",
  rolledBackFrom: undefined,
  startedAt: now - 10_000,
  endedAt: status === "running" ? undefined : now - 5_000,
  error,
});
const phase = (word: string) => ({
  phase: word,
  conditions: [],
  warnings: [],
  observedRevision: 1,
  observedGeneration: 1,
  error: undefined,
  nextRetryAt: undefined,
});

describe("how an app is", () => {
  const cases: [string, Partial<AppFacts>, string, string][] = [
    ["all replicas ready", {}, "ready", "1 of 1 ready"],
    ["asleep", { status: phase("asleep"), pods: [] }, "asleep", "asleep, the first request starts it"],
    ["scaled to 0", { replicas: 0, pods: [] }, "stopped", "0 of 0 ready: scaled to 0"],
    [
      "stopped by hand",
      { frozenIds: ["abcde"], pods: [pod({ frozen: true, state: "exited", upSince: undefined, ready: false })] },
      "stopped",
      "0 of 1 ready, 1 stopped: stopped by hand",
    ],
    [
      "one of two stopped by hand",
      { replicas: 2, frozenIds: ["zzzzz"], pods: [pod()] },
      "ready",
      "1 of 2 ready, 1 stopped",
    ],
    [
      "a replica that ended once and is not back",
      { pods: [pod({ state: "exited", upSince: undefined, ready: false, exitCode: 3 })] },
      "down",
      "0 of 1 ready: shop-web.abcde ended, exit code 3",
    ],
    [
      "one that restarted a moment ago and runs",
      { pods: [pod({ upSince: now - 5_000, crashes: 1, restarts: 1, exitCode: 1 })] },
      "down",
      "0 of 1 ready: shop-web.abcde restarted once, last exit code 1",
    ],
    [
      "a crash loop in the moment in which it runs",
      { pods: [pod({ upSince: now - 5_000, crashes: 4, restarts: 4, exitCode: 1 })] },
      "crashing",
      "0 of 1 ready: shop-web.abcde restarted 4 times in a row, last exit code 1",
    ],
    [
      "a crash loop that nothing was asked about yet",
      { pods: [pod({ upSince: undefined, crashes: 4, exitCode: 1 })] },
      "crashing",
      "0 of 1 ready: shop-web.abcde restarted 4 times in a row, last exit code 1",
    ],
    [
      "a start that was not looked at yet",
      { status: phase("progressing"), pods: [pod({ upSince: undefined })] },
      "deploying",
      "0 of 1 ready",
    ],
    [
      "a process that cannot start",
      { pods: [pod({ state: "created", upSince: undefined, cannotStart: "exec: no such file" })] },
      "crashing",
      "0 of 1 ready: shop-web.abcde cannot start: exec: no such file",
    ],
    [
      "killed for memory",
      { pods: [pod({ state: "restarting", upSince: undefined, oomKilled: true, crashes: 1 })] },
      "crashing",
      "0 of 1 ready: shop-web.abcde ran out of memory",
    ],
    [
      "one of two has a failing probe",
      {
        replicas: 2,
        pods: [pod(), pod({ replicaId: "fghij", name: "shop-web.fghij", ready: false, reason: "GET / answered 500" })],
      },
      "degraded",
      "1 of 2 ready: shop-web.fghij GET / answered 500",
    ],
    ["a release under way", { status: phase("progressing"), release: release("running") }, "deploying", "1 of 1 ready"],
    [
      "a failed rollout that serves on",
      { status: { ...phase("failed"), error: "boom" } },
      "degraded",
      "1 of 1 ready: boom",
    ],
    [
      "nothing runs any more",
      { status: { ...phase("failing"), error: "no image" }, pods: [] },
      "down",
      "0 of 1 ready: no image",
    ],
    ["before the first round", { status: undefined, pods: [] }, "deploying", "0 of 1 ready"],
  ];
  test.each(cases)("%s", (_, over, state, summary) => {
    const found = judge(app(over), moment);
    expect([found.state, found.summary]).toEqual([state as typeof found.state, summary]);
  });

  test("is unknown while the engine cannot be reached", () => {
    expect(judge(app(), { engineUp: false, now })).toMatchObject({ state: "unknown", ready: 0 });
  });

  test("is failing while its visitors get errors, unless it is worse off or not meant to serve", () => {
    const cause = "30 of 120 requests of the last minute";
    const stateOf = (over: Partial<AppFacts>) => judge(app(over), moment, cause).state;
    expect(judge(app(), moment, cause)).toMatchObject({
      state: "failing",
      summary: `1 of 1 ready: ${cause}`,
      ready: 1,
    });
    expect(stateOf({ pods: [pod({ upSince: now - 1_000, crashes: 4, exitCode: 1 })] })).toBe("crashing");
    expect(stateOf({ replicas: 0, pods: [] })).toBe("stopped");
    expect(stateOf({ release: release("running") })).toBe("deploying");
  });

  test("changes by time alone when a replica has run for a minute since it crashed", () => {
    const crashed = app({ pods: [pod({ upSince: now - 5_000, crashes: 4 })] });
    const first = judge(crashed, moment);
    expect(first.recheckAt).toBe(now + 55_000);
    expect(judge(crashed, { engineUp: true, now: now + 54_999 }).state).toBe("crashing");
    expect(judge(crashed, { engineUp: true, now: now + 55_000 }).state).toBe("ready");
  });
});

describe("problems of an app", () => {
  const problems = (over: Partial<AppFacts>, around: Partial<Parameters<typeof appProblems>[2]> = {}) => {
    const facts = app(over);
    return appProblems(facts, judge(facts, moment), { hosts: [], alarms: [], ...around });
  };
  const alarm: Alarm = {
    ...{
      rule: "error-rate",
      severity: "critical",
      title: "shop/web fails 25.0 % of its requests",
      since: now - 60_000,
    },
    ...{ detail: "30 of 120 requests of the last minute, all at GET /pay", began: "10:02 config.set shop/web by ana" },
    ...{
      labels: { scope: "shop", name: "web" },
      command: "berth why shop/web",
      condition: undefined,
      isOfVisitors: true,
    },
  };

  test("there are none of one that is well", () => {
    expect(problems({})).toEqual([]);
  });

  test("a crash loop is critical where nothing serves, with its cause and the command to type", () => {
    expect(problems({ pods: [pod({ upSince: now - 1_000, crashes: 4, exitCode: 1 })] })).toEqual([
      {
        id: "crash_loop/deployment/shop/web",
        severity: "critical",
        type: "crash_loop",
        title: "shop/web crashes again and again",
        cause: "shop-web.abcde restarted 4 times in a row, last exit code 1",
        command: "berth why shop/web",
        app: { kind: "deployment", scope: "shop", name: "web" },
      },
    ]);
  });

  test("a failed deploy is named although the replicas before it serve", () => {
    const [found] = problems({ release: release("failed", "GET /ready: 500") });
    expect(found).toMatchObject({ type: "failed_release", severity: "warning", cause: "GET /ready: 500" });
  });

  test("the worst come first, and long texts are cut", () => {
    const host = { host: "shop.example", paths: ["/"], tls: true, url: "https://shop.example", ingress: "shop/web" };
    const certificate = { state: "failed", issuer: "letsencrypt", error: "x".repeat(2_000) };
    const found = problems({ release: release("failed", "boom") }, { hosts: [{ ...host, certificate }] });
    expect(found.map(({ type, severity }) => [type, severity])).toEqual([
      ["certificate", "critical"],
      ["failed_release", "warning"],
    ]);
    expect(found[0]?.cause).toHaveLength(500);
  });

  test("an alert about it is one, with where the errors are and what changed before", () => {
    expect(problems({}, { alarms: [alarm] })).toEqual([
      {
        id: 'alert/error-rate/[["name","web"],["scope","shop"]]',
        severity: "critical",
        type: "error-rate",
        title: "shop/web fails 25.0 % of its requests",
        cause: `${alarm.detail}; the last change before it: 10:02 config.set shop/web by ana`,
        command: "berth why shop/web",
        since: new Date(now - 60_000).toISOString(),
        app: { kind: "deployment", scope: "shop", name: "web" },
      },
    ]);
  });

  test("one fault is one row: an alert about a state that is told is left out", () => {
    const labels = { kind: "deployment", scope: "shop", name: "web" };
    const looping: Alarm = { ...alarm, rule: "loops", condition: "crash_loop", labels, isOfVisitors: false };
    const typesOf = (over: Partial<AppFacts>) => problems(over, { alarms: [looping] }).map(({ type }) => type);
    expect(typesOf({ pods: [pod({ upSince: now - 1_000, crashes: 4, exitCode: 1 })] })).toEqual(["crash_loop"]);
    expect(typesOf({})).toEqual(["loops"]);
  });

  test("of the server and of jobs, alerts are problems of their own, and disks are told once each", () => {
    const disk: Alarm = { ...alarm, rule: "disk", condition: "disk_full", labels: { mount: "/data" } };
    const run: Alarm = { ...alarm, rule: "slow-run", labels: { kind: "cronjob", scope: "shop", name: "mail" } };
    const full = { id: "disk", severity: "critical", type: "disk", title: "the disk is full", cause: "" } as const;
    expect(alarmProblems([disk, run], []).map(({ type, app: about }) => [type, about?.name])).toEqual([
      ["disk", undefined],
      ["slow-run", "mail"],
    ]);
    expect(alarmProblems([disk], [full])).toEqual([]);
  });
});
