import { describe, expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";

const event = (seq: number, action: string, detail = {}) => ({
  seq,
  at: `2026-01-01T23:5${seq}:00.000Z`,
  actor: "ana@laptop",
  action,
  kind: "deployment",
  scope: "shop",
  name: "web",
  detail,
});

const death = {
  replica_id: "a1b2c",
  container_id: "c0ffee",
  at: "2026-01-01T23:59:30.000Z",
  exit_code: 137,
  signal: "SIGKILL",
  oom_killed: true,
  reason: "OutOfMemory: shop-web.a1b2c ran out of memory",
  image: "web:2",
  logs: ["loading", "loading more", "\x1b[31mgrowing\x1b[0m"],
  probes: ["2026-01-01T23:59:20.000Z liveness failed: no answer within 1 s"],
};

const failed = {
  id: "0t85s0067",
  cause: "apply",
  image: "web:2",
  started_at: "2026-01-01T23:58:00.000Z",
  ended_at: "2026-01-01T23:59:30.000Z",
  error: "OutOfMemory: shop-web.a1b2c ran out of memory",
  exit_code: 0,
  output: ["migrating"],
  rolled_back_to: "0t85s0001",
};

test("a last command that failed is told, and that the release did not", async () => {
  const post = { ...failed, error: "post_command failed (exit 9)", post_exit_code: 9, rolled_back_to: undefined };
  const { out } = await why({ ...data, failed_release: post });
  expect(out).toContain("release 0t85s0067 succeeded, its last command did not");
  expect(out).toMatch(/post_command +exit code 9/);
});

const data = {
  kind: "deployment",
  scope: "shop",
  name: "web",
  deleted: false,
  at: "2026-01-01T23:59:30.000Z",
  phase: "ready",
  conditions: [],
  death,
  deaths: 4,
  failed_release: failed,
  events: [
    event(1, "config.set", { keys: ["HEAP"], restart: true }),
    event(2, "manifest.apply", { outcome: "updated", changed: ["image"] }),
    event(3, "replica.create", { why: "1 of 2" }),
    event(4, "release.failed", { release: "0t85s0067" }),
  ],
};

const why = (answer: unknown, ...flags: string[]) => cli(["why", "shop/web", ...flags], { server: () => answer });

test("what is wrong although it is ready is told under its name: warnings, its ingresses, alerts", async () => {
  const warnings = ["port 3000 of shop-web.a is closed: connection refused"];
  const sites = [
    { ingress: "shop/www", target: "shop/web", problems: ["no valid certificate for shop.test: refused"] },
  ];
  const about = { labels: { scope: "shop", name: "web" }, title: "7 % of requests fail" };
  const alerts = [{ id: "a7", severity: "critical", state: "firing", ...about }];
  const server = ({ path }: { path: string }) =>
    ({ "/ingress": { sites }, "/alerts": { alerts, blind: [] } })[path] ?? { ...data, warnings };
  const { out } = await cli(["why", "shop/web"], { server });
  expect(out.split("\n").slice(0, 4)).toEqual([
    "deployment/shop/web  ready",
    `  ! ${warnings[0]}`,
    "  ✗ ingress/shop/www: no valid certificate for shop.test: refused",
    "  ✗ alert a7 (critical): 7 % of requests fail",
  ]);
});

describe("why", () => {
  test("tells all of it on one screen", async () => {
    const { out, code, calls } = await why(data);
    expect(code).toBe(0);
    expect(calls[0]).toMatchObject({ path: "/why", query: { scope: "shop", name: "web" } });
    expect(out).toBe(
      [
        "deployment/shop/web  ready",
        "",
        "release 0t85s0067 failed  2026-01-01 23:59:30Z, 30s ago",
        "  why           OutOfMemory: shop-web.a1b2c ran out of memory",
        "  cause         apply",
        "  image         web:2",
        "  command       exit code 0",
        "  went back to  release 0t85s0001",
        "  output of its commands",
        "    migrating",
        "",
        "replica a1b2c died  2026-01-01 23:59:30Z, 30s ago",
        "  exit code  137 (SIGKILL)",
        "  memory     killed: out of memory",
        "  image      web:2",
        "  on record  4 deaths",
        "  last probes",
        "    2026-01-01T23:59:20.000Z liveness failed: no answer within 1 s",
        "  last lines",
        "    loading",
        "    loading more",
        "     [31mgrowing [0m",
        "",
        "changed in the hour before",
        "  2026-01-01 23:51:00Z  ana@laptop  config.set      deployment/shop/web  keys=HEAP restart=true",
        "  2026-01-01 23:52:00Z  ana@laptop  manifest.apply  deployment/shop/web  outcome=updated changed=image",
        "",
        "next",
        "  raise resources.limits.memory in the manifest, then: berth apply -f FILE",
        "  berth stats shop/web",
        "  berth events shop/web",
        "",
      ].join("\n"),
    );
  });

  test("of one that is ready with a frozen replica tells how it comes back", async () => {
    const { out } = await why({ ...data, frozen_ids: ["k3x7a"] });
    expect(out).toContain("deployment/shop/web  ready\n  1 frozen: berth start shop/web\n");
  });

  test("of what happened before keeps what changes something", async () => {
    const changes =
      "manifest.apply manifest.delete block.apply config.set config.unset build scale restart pod.stop pod.start lock unlock release.run release.rollback plugin.install plugin.attend run.start asset.changed";
    const others =
      "pod.exec pod.run pod.run_ended pod.files.read pod.forward replica.create probe.failed release.succeeded run.failed rollout.step";
    const events = [...changes.split(" "), ...others.split(" ")].map((action, minute) => event(minute, action, {}));
    const { out } = await why({ ...data, events });
    const part = out.slice(out.indexOf("changed in the hour before"), out.indexOf("\nnext"));
    expect(part.match(/(?<=ana@laptop +)[\w.]+/g)?.join(" ")).toBe(changes);
    const back = { ...event(1, "release.rollback", {}), actor: "reconciler" };
    expect((await why({ ...data, events: [back] })).out).toContain("changed in the hour before  nothing");
  });

  test("says so when nothing ever happened", async () => {
    const { out } = await why({ ...data, death: undefined, deaths: 0, failed_release: undefined, events: [] });
    expect(out).toBe(
      [
        "deployment/shop/web  ready",
        "  no death and no failed release is on record",
        "",
        "changed in the hour before  nothing",
        "",
        "next",
        "  berth events shop/web",
        "",
      ].join("\n"),
    );
  });

  test("-n limits the lines of output, 0 shows none", async () => {
    const short = (await why(data, "-n", "1")).out;
    expect(short).not.toContain("    loading more\n");
    expect(short).toContain("growing");
    expect((await why(data, "-n", "0")).out).not.toContain("last lines");
  });

  test("-o json is the answer of the API", async () => {
    expect(JSON.parse((await why(data, "-o", "json")).out).data).toEqual(data);
  });

  test.each([[["why"]], [["why", "a/b", "c"]], [["why", "a/b", "-n", "few"]]])("%p is wrong usage", async (argv) =>
    expect((await cli(argv)).code).toBe(2),
  );
});

describe("what is wrong now comes first, and decides what to type next", () => {
  const bad = (reason: string, message: string, change = {}) => ({
    ...data,
    phase: "failing",
    death: undefined,
    deaths: 0,
    failed_release: undefined,
    conditions: [{ type: "Degraded", status: true, reason, message, at: "2026-01-01T23:59:00.000Z" }],
    next_retry_at: "2026-01-02T00:00:30.000Z",
    ...change,
  });
  const nextOf = (out: string) =>
    out
      .slice(out.indexOf("\nnext\n") + 6)
      .trimEnd()
      .split("\n")
      .map((line) => line.trim());

  test("an image that cannot be pulled", async () => {
    const pull = bad("ImagePull", 'cannot pull image "web:9"');
    const { out } = await why({ ...pull, rollback_to: "0t85s0001" });
    expect(nextOf((await why(pull)).out)).not.toContain("berth rollback shop/web");
    expect(out).toStartWith('deployment/shop/web  failing\n  ImagePull: cannot pull image "web:9"; next try in 30s\n');
    expect((await why({ ...pull, next_retry_at: "2020-01-01T00:00:00.000Z" })).out).toContain("; next try now\n");
    expect(nextOf(out)).toEqual([
      "check spec.image and that the registry has it, then: berth apply -f FILE",
      "berth rollback shop/web",
      "berth events shop/web",
    ]);
  });

  test("an image that was built here has no registry to look at", async () => {
    for (const reason of ["ImageMissing", "ImagePull"]) {
      const { out } = await why({ ...bad(reason, "the image is gone"), built: true });
      expect(nextOf(out)[0]).toBe("build it again, in the folder of the app: berth up");
      expect(nextOf(out).join()).not.toContain("registry");
    }
  });

  test.each<[string, string]>([
    [
      "ImageMissing",
      "load the image again (docker load), or release what its tag means now: berth apply -f FILE --pull",
    ],
    ["RegistryAuth", "check username and token of the registry manifest, then: berth apply -f FILE"],
    ["PortTaken", "free the host port, or write another one in ports"],
    ["DiskLow", "free some space: docker image prune"],
    ["EngineUnavailable", "berth doctor"],
  ])("%s", async (reason, step) => expect(nextOf((await why(bad(reason, "x"))).out)[0]).toBe(step));

  test("a command that does not exist", async () => {
    const { out } = await why(
      bad("CrashLoop", "x", { death: { ...death, exit_code: 127, signal: undefined, oom_killed: false } }),
    );
    expect(out).toContain("exit code  127 (the command was not found)");
    expect(nextOf(out)[0]).toBe("check command in the manifest against what the image has");
  });

  test("a crash that only the program can explain", async () => {
    const crash = { ...death, exit_code: 3, signal: undefined, oom_killed: false, reason: "it ended by itself" };
    expect(nextOf((await why({ ...data, failed_release: undefined, death: crash })).out)).toEqual([
      "berth logs shop/web",
      "berth events shop/web",
    ]);
  });

  test("a release that went back is mended and applied again", async () => {
    const crash = { ...death, exit_code: 3, signal: undefined, oom_killed: false };
    const { out } = await why({ ...data, death: crash, failed_release: { ...failed, reasons: ["CrashLoop"] } });
    expect(nextOf(out)[0]).toBe("fix what the last lines show, then: berth apply -f FILE");
    expect(nextOf(out)[1]).toContain("rollout.crash_loop_after");
    const built = { ...data, built: true, death: crash, failed_release: { ...failed, reasons: ["CrashLoop"] } };
    expect(nextOf((await why(built)).out)[0]).toBe("fix what the last lines show, then: berth up");
    const guarded = await why({ ...data, death: undefined, failed_release: { ...failed, reasons: ["GuardTripped"] } });
    expect(nextOf(guarded.out)[1]).toContain("berth ingress logs --status 5xx");
  });

  test.each<[string[], ...string[]]>([
    [["up", "a", "b", "a", "b", "a", "b"], "up", "3 times:", "a", "b"],
    [["b", "a", "b", "a", "b"], "b", "2 times:", "a", "b"],
    [["error", "", "error", ""], "2 times:", "error", ""],
    [["a", "b", "b"], "a", "2 times:", "b"],
    [["a", "b", "a"], "a", "b", "a"],
    [["a"], "a"],
  ])("output that repeats itself at its end is shown once: %j", async (logs, ...shown) => {
    const { out } = await why({ ...data, failed_release: undefined, death: { ...death, logs } });
    const [, part = ""] = out.split("  last lines\n");
    const lines = part.split("\n").slice(0, shown.length);
    expect(lines.map((line) => line.trim())).toEqual(shown);
    expect(part.split("\n")[shown.length]).not.toStartWith("    ");
  });

  test("a canary that waits for a person", async () => {
    const canary = {
      release: "0t85s0067",
      state: "paused",
      text: "canary step 1 of 1, 5 % of the requests; waits for: berth rollout resume",
      step: 1,
      steps: [{ share: 0.05 }],
      share: 0.05,
      replicas: { new: 1, old: 4 },
    };
    const { out } = await why({ ...data, phase: "progressing", death: undefined, failed_release: undefined, canary });
    expect(out).toContain("running  1 new, 4 old");
    expect(nextOf(out)).toEqual([
      "berth rollout resume shop/web",
      "berth rollout abort shop/web",
      "berth rollout status shop/web",
      "berth events shop/web",
    ]);
  });

  test("what was deleted", async () => {
    const { out } = await why({ ...data, deleted: true, phase: undefined });
    expect(out).toStartWith("deployment/shop/web  deleted\n");
    expect(nextOf(out)).toEqual(["berth events shop/web"]);
  });
});

describe("a job", () => {
  const failedRun = {
    run_id: "k3j2h1",
    kind: "job",
    scope: "shop",
    name: "web",
    container: "shop-web.k3j2h1",
    status: "failed",
    trigger: "manual",
    attempt: 3,
    started_at: "2026-01-01T23:58:00.000Z",
    ended_at: "2026-01-01T23:59:30.000Z",
    exit_code: 139,
    signal: "SIGSEGV",
    error: "exit code 139",
    tail: ["at row 7"],
  };
  const { death: _, failed_release: __, ...rest } = data;
  const told = { ...rest, kind: "job", deaths: 0, failed_run: failedRun };

  test("shows the last run that failed, and how to run it again", async () => {
    const { out } = await why(told);
    for (const text of ["run k3j2h1 failed", "139 (SIGSEGV)", "tries", "at row 7", "berth run shop/web"]) {
      expect(out).toContain(text);
    }
    expect(out).not.toContain("berth rollback");
  });
  test("an instant that was missed has no exit code, and leads to the history", async () => {
    const { started_at: _, exit_code: __, signal: ___, ...missed } = failedRun;
    const run = { ...missed, status: "missed", trigger: "schedule", instant: "2026-01-01T23:59:00.000Z", tail: [] };
    const { out } = await why({ ...told, kind: "cronjob", failed_run: run });
    expect(out).toContain("berth cron history shop/web");
    expect(out).not.toContain("exit code  ");
  });
  test("without a failed run says so", async () => {
    const { failed_run: _, ...none } = told;
    expect((await why(none)).out).toContain("no failed run is on record");
  });
});

describe("an ingress", () => {
  const { death: _, failed_release: __, ...rest } = data;
  const told = { ...rest, kind: "ingress", name: "site", deaths: 0, service: "web" };

  test("that is served leads to its requests", async () => {
    const { out } = await why({ ...told, phase: "ready" });
    expect(out).toContain("it is served, and a replica is ready");
    expect(out).toContain("berth ingress logs shop/site");
  });
  test("without a ready replica leads to the resource behind it", async () => {
    const { out } = await why({
      ...told,
      phase: "progressing",
      last_reconcile_error: "no replica of shop/web is ready",
    });
    expect(out).toContain("no replica of shop/web is ready");
    expect(out).toContain("next\n  berth why shop/web\n  berth ingress ls shop/site");
    const failing = await why({ ...told, phase: "failing", last_reconcile_error: "no replica of shop/web is ready" });
    expect(failing.out).toContain("berth ingress status\n  berth why shop/web");
  });
  test("that the proxy cannot serve leads to the proxy", async () => {
    const { out } = await why({ ...told, phase: "failing", last_reconcile_error: "not served: port 80 is taken" });
    expect(out).toContain("not served: port 80 is taken");
    expect(out).toContain("next\n  berth ingress ls shop/site\n  berth ingress status");
  });
  test("of a part of the server has no resource behind it", async () => {
    const { out } = await why({ ...told, phase: "progressing", service: "@identity" });
    expect(out).toContain("next\n  berth ingress ls shop/site");
  });
});

describe("a replica that its probe keeps from being ready", () => {
  const unready = {
    replica_id: "b2c3d",
    container: "shop-web.b2c3d",
    probe: "readiness",
    check: "GET :8080/ready",
    since: "2026-01-01T23:59:00.000Z",
    got: "503 Service Unavailable: no database",
    logs: ["connecting"],
  };

  test("comes before what went wrong earlier: which probe, what it got, since when, the last lines", async () => {
    const { out } = await why({ ...data, phase: "progressing", unready: [unready] });
    expect(out).toContain(
      [
        "replica b2c3d runs and is not ready",
        "  probe  readiness: GET :8080/ready",
        "  got    503 Service Unavailable: no database",
        "  since  2026-01-01 23:59:00Z, 60s ago",
        "  last lines",
        "    connecting",
        "",
        "release 0t85s0067 failed",
      ].join("\n"),
    );
    expect(out).toContain("make the app answer its probe");
  });
});

test("the newest trouble is told first, and a kill by the liveness probe for what it is", async () => {
  const reason = "killed: liveness probe (GET :8080/alive) failed: 500";
  const killed = { ...death, at: "2026-01-01T23:59:50.000Z", exit_code: 0, oom_killed: false, reason };
  const { out } = await why({ ...data, death: killed });
  expect(out.indexOf("replica a1b2c was killed")).toBeLessThan(out.indexOf("release 0t85s0067 failed"));
  expect(out).toContain(`  why        ${reason}\n  exit code  0`);
});

test("while the engine is away, that comes first, and no rollback is proposed", async () => {
  const message = "the container engine cannot be reached: docker has not answered since 2026-01-01T23:59:00Z";
  const { out } = await why({
    ...data,
    death: undefined,
    failed_release: undefined,
    rollback_to: "0t85s0001",
    conditions: [
      { type: "Degraded", status: true, reason: "EngineUnavailable", message, at: "2026-01-01T23:59:15.000Z" },
    ],
  });
  expect(out).toContain(
    "deployment/shop/web  unknown\n  EngineUnavailable: the container engine cannot be reached: docker",
  );
  expect(out).toContain("next\n  berth doctor\n");
  expect(out).not.toContain("berth rollback");
});
