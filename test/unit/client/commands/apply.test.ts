import { describe, expect, test } from "bun:test";
import { guarded } from "../../../../src/client/commands/apply.ts";
import { type Call, cli, pod, refusal, type Scene, stored } from "../../../support/cli.ts";

const web = "kind: deployment\nscope: shop\nname: web\nspec:\n  image: web:2\n  bad: 1\n";

interface Script {
  /** Answers of GET /describe, one after the other, the last for ever. */
  statuses?: (Record<string, unknown> | null | Error)[];
  action?: "create" | "update" | "unchanged";
  onApply?: (call: Call) => unknown;
}

/** A server that has revision 7, makes revision 8 of it, and says `statuses`. */
function scripted({ statuses = [status("ready")], action = "update", onApply }: Script = {}) {
  let looks = 0;
  return (call: Call): unknown => {
    if (call.path === "/describe") {
      const current = statuses[Math.min(looks++, statuses.length - 1)];
      if (current instanceof Error) throw current;
      return { manifest: stored("deployment/shop/web", {}, 8), status: current, pods: [pod("shop-web.a1b2c")] };
    }
    if (call.path !== "/apply" || call.method !== "POST") return undefined;
    const special = onApply?.(call);
    if (special !== undefined) return special;
    const dry = call.query.dry_run === "true";
    const before = stored("deployment/shop/web", { image: "web:1" });
    return {
      applied: [stored("deployment/shop/web", { image: "web:2" }, action === "unchanged" ? 7 : 8)],
      pruned: [],
      ...(dry
        ? {
            dry_run: true,
            current: [action === "create" ? null : before],
            plan: [{ ref: "deployment/shop/web", action, changed: ["image"], replicas: [], notes: [] }],
          }
        : {}),
    };
  };
}

function status(phase: string, change: Record<string, unknown> = {}): Record<string, unknown> {
  const bad = { type: "Ready", status: false, reason: "ImagePull", message: "no such image", at: "" };
  return {
    phase,
    replicas: 1,
    ready_replicas: phase === "ready" ? 1 : 0,
    observed_revision: 8,
    conditions: phase === "ready" ? [] : [bad],
    last_reconcile_at: "2026-01-02T00:00:00Z",
    ...change,
  };
}

const apply = (flags: string[], script?: Script, scene: Scene = {}) =>
  cli(["apply", "-f", "-", ...flags], { stdin: web, server: scripted(script), ...scene });

const writes = (calls: Call[]) => calls.filter(({ path, query }) => path === "/apply" && query.dry_run === undefined);

describe("apply", () => {
  test("shows the plan, applies with the revision it was made against, waits, and ends with 0", async () => {
    const { code, out, err, calls } = await apply([]);
    expect(out).toBe('~ deployment/shop/web\n    image  "web:1"  → "web:2"\n\n1 to change\n\napplied 1 resource\n');
    expect(err).toBe("✓ deployment/shop/web is ready (1/1)\n");
    expect(code).toBe(0);
    expect(writes(calls)[0]?.body).toMatchObject([{ kind: "deployment", metadata: { if_revision: 7 } }]);
  });

  test("asks the server for no backup of a database where the caller does without", async () => {
    const query = async (args: string[]) => writes((await apply(args)).calls)[0]?.query;
    expect([await query([]), await query(["--no-backup"])]).toEqual([
      expect.not.objectContaining({ no_backup: expect.anything() }),
      expect.objectContaining({ no_backup: "true" }),
    ]);
  });

  test("guards a resource that was not there with revision 0", async () => {
    const { calls } = await apply([], { action: "create" });
    expect(writes(calls)[0]?.body).toMatchObject([{ metadata: { if_revision: 0 } }]);
  });

  test("does not believe a status that is older than what it applied", async () => {
    const old = status("ready", { observed_revision: 7 });
    const { code, calls } = await apply([], { statuses: [null, old, old, status("ready")] });
    expect(code).toBe(0);
    expect(calls.filter(({ path }) => path === "/describe")).toHaveLength(4);
  });

  test.each(["failing", "failed"])("ends with 1, the reason and what to type when it is %s", async (phase) => {
    const { code, err } = await apply([], { statuses: [status("progressing", { conditions: [] }), status(phase)] });
    expect(code).toBe(1);
    expect(err).toEndWith(
      [
        "✗ deployment/shop/web is not ready: ImagePull: no such image",
        "  see: berth why shop/web",
        "       berth describe deployment shop/web",
        "",
      ].join("\n"),
    );
  });

  test("ends a wait that failed with what the replica printed last", async () => {
    const told = { replica_id: "a1b2c", logs: Array.from({ length: 12 }, (_, line) => `line ${line}`) };
    const answers = scripted({ statuses: [status("failing")] });
    const server = (call: Call) => (call.path === "/why" ? { death: told } : answers(call));
    const { err } = await cli(["apply", "-f", "-"], { stdin: web, server });
    expect(err).toContain("no such image\n  last lines of replica a1b2c\n    line 2\n");
    expect(err).toContain("    line 11\n  see: berth why shop/web\n");
  });

  test("an old failure of an unchanged manifest counts only after the server has looked again", async () => {
    const old = status("failing", { observed_revision: 7 });
    const healed = status("ready", { observed_revision: 7, last_reconcile_at: "2026-01-02T00:00:09Z" });
    expect((await apply([], { action: "unchanged", statuses: [old, old, healed] })).code).toBe(0);
    const again = { ...old, last_reconcile_at: "2026-01-02T00:00:09Z" };
    expect((await apply([], { action: "unchanged", statuses: [old, again] })).code).toBe(1);
  });

  test("waits for the release that a revision without one of its own is part of", async () => {
    const release = (revision: number, more: object) => ({ id: `r${revision}`, revision, ...more });
    const during = { releases: [release(7, { status: "pending" })] };
    const failed = { releases: [release(9, { status: "succeeded" }), release(7, { status: "failed", error: "no" })] };
    const { code, err } = await apply([], { statuses: [status("ready", during), status("ready", failed)] });
    expect(code).toBe(1);
    expect(err).toContain("release r7 failed: no");
  });

  test("shows what visitors saw of the release that it made, and nothing of one from before", async () => {
    const release = { id: "0t85s0001", status: "succeeded", revision: 7 };
    const span = { seconds: 9, requests: 12, failed: 0, p99_ms: 40 };
    const receipt = { before: { ...span, requests: 0 }, during: span };
    const answers = (script: Script) => (call: Call) =>
      call.path === "/releases" ? { releases: [{ ...release, receipt }] } : scripted(script)(call);
    const statuses = [status("ready", { releases: [release] })];
    const run = (script: Script) => cli(["apply", "-f", "-", "-y"], { stdin: web, server: answers(script) });
    expect((await run({ statuses })).err).toContain("12 requests during the switch, 0 failed");
    expect((await run({ statuses, action: "unchanged" })).err).not.toContain("during the switch");
  });

  test("a release during which requests failed is good, and does not end in a check mark", async () => {
    const release = { id: "0t85s0001", status: "succeeded", revision: 7 };
    const span = { seconds: 9, requests: 340, failed: 12, p99_ms: 40 };
    const receipt = { before: { ...span, failed: 3 }, during: span };
    const answers = (call: Call) =>
      call.path === "/releases"
        ? { releases: [{ ...release, receipt }] }
        : scripted({ statuses: [status("ready", { releases: [release] })] })(call);
    const { code, err } = await cli(["apply", "-f", "-", "-y"], { stdin: web, server: answers });
    expect(code).toBe(0);
    expect(err).toMatch(/^! deployment\/shop\/web is ready \(.*\), but 12 of 340 requests failed during the switch$/m);
    expect(err).not.toContain("✓");
  });

  test("ends with 3 when the time is up", async () => {
    const { code, err } = await apply(["--timeout", "10s"], { statuses: [status("progressing")] });
    expect(code).toBe(3);
    expect(err).toContain("is not ready after 10s: ImagePull: no such image; the server goes on");
  });

  test("ends with 4 when the server is gone, after a minute without an answer", async () => {
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    const statuses = [status("progressing"), refused];
    const { code, err } = await apply([], { statuses });
    expect(code).toBe(4);
    expect(err).toContain("… deployment/shop/web not waited for: the server has not answered for 60s");
    expect(err).toContain("error: cannot reach the server at http://127.0.0.1:1: nothing listens there");
    expect((await apply(["--timeout", "10s"], { statuses })).code).toBe(4);
  });

  test("ends with 130 on Ctrl-C and says that the server goes on", async () => {
    const { code, err } = await apply(
      [],
      { statuses: [status("progressing")] },
      { onSleep: (_, interrupt) => interrupt() },
    );
    expect(code).toBe(130);
    expect(err).toContain("deployment/shop/web not waited for: the server goes on");
  });

  test.each(["--no-wait", "--detach"])("%s does not look at it", async (flag) => {
    const { code, calls } = await apply([flag]);
    expect(code).toBe(0);
    expect(calls.map(({ path }) => path)).toEqual(["/apply", "/apply"]);
  });

  test("--dry-run writes nothing; --prune is passed on", async () => {
    const { code, calls } = await apply(["--dry-run", "--prune"]);
    expect(code).toBe(0);
    expect(calls.map(({ query }) => query)).toEqual([{ dry_run: "true", prune: "true" }]);
  });

  test("on a terminal progress is drawn in place and leaves only the result", async () => {
    const { err } = await apply([], { statuses: [status("progressing"), status("ready")] }, { live: true });
    const [block = "", , result = ""] = err.split("\x1b[J").filter((part) => part.includes("deployment"));
    expect(block).toContain(
      "deployment/shop/web  0/1 ready  0s  ImagePull: no such image\n    a1b2c  running, ready\n",
    );
    expect(err).toEndWith("\x1b[1A\r\x1b[J✓ deployment/shop/web is ready (1/1)\n");
    expect(result).toBe("✓ deployment/shop/web is ready (1/1)\n");
  });

  test("asks on a terminal, and no means nothing is written", async () => {
    const { code, err, calls } = await apply([], {}, { typed: ["no\n"] });
    expect(err).toContain("apply these changes? [y/N]");
    expect(err).toContain("nothing was changed");
    expect(code).toBe(5);
    expect(writes(calls)).toEqual([]);
  });

  test("needs -y without a terminal, except where nothing would change", async () => {
    const { code, err, calls } = await apply([], {}, { autoApprove: false });
    expect([code, writes(calls)]).toEqual([5, []]);
    expect(err).toBe(
      'error: there is no terminal to ask "apply these changes?": add -y to answer yes; nothing was changed\n',
    );
    const unchanged = status("ready", { observed_revision: 7 });
    const same = await apply([], { action: "unchanged", statuses: [unchanged] }, { autoApprove: false });
    expect(same.code).toBe(0);
  });

  test.each(["y\n", "Yes\n"])("%p goes ahead", async (line) => {
    expect(writes((await apply([], {}, { typed: [line] })).calls)).toHaveLength(1);
  });

  test("does not ask with -y, nor when nothing would change", async () => {
    expect((await apply(["-y"], {}, { typed: [] })).code).toBe(0);
    const unchanged = status("ready", { observed_revision: 7 });
    expect((await apply([], { action: "unchanged", statuses: [unchanged] }, { typed: [] })).code).toBe(0);
  });

  describe("raced by somebody else", () => {
    const lost =
      "metadata.if_revision: deployment/shop/web was expected at revision 7, but it is at revision 9; look again and re-apply";
    const conflict = { reason: "RevisionConflict", fields: { resource: "deployment/shop/web", revision: 9 } };
    /** Loses this many times. */
    const racing = (times: number) => {
      let lostSoFar = 0;
      return ({ query }: Call) => {
        return query.dry_run === "true" || lostSoFar++ >= times ? undefined : refusal(409, lost, conflict);
      };
    };

    test("does not overwrite what was changed, and does not name a field that nobody wrote", async () => {
      const { code, err, calls } = await apply([], { onApply: racing(1) }, { typed: ["y\n"] });
      expect(code).toBe(1);
      expect(err).toEndWith(
        "error: someone else changed deployment/shop/web meanwhile\n  nothing was changed; look again: berth diff\n",
      );
      expect(writes(calls)).toHaveLength(1);
    });

    test("with -y plans again, says so, and applies", async () => {
      const { code, out, err, calls } = await apply(["-y"], { onApply: racing(3) });
      expect(code).toBe(0);
      expect(err).toStartWith("! someone else changed deployment/shop/web meanwhile; planning again\n");
      expect(out.match(/1 to change/g)).toHaveLength(4);
      expect(calls.filter(({ path }) => path === "/apply").map(({ query }) => query.dry_run ?? "write")).toEqual(
        Array.from({ length: 4 }, () => ["true", "write"]).flat(),
      );
    });

    test("with -y gives up after three more tries", async () => {
      const { code, err, calls } = await apply(["-y"], { onApply: racing(4) });
      expect(code).toBe(1);
      expect(err).toEndWith(
        "error: someone else changed deployment/shop/web meanwhile\n  nothing was changed; look again: berth diff\n",
      );
      expect(writes(calls)).toHaveLength(4);
    });

    test("another conflict is told as it is, and not tried again", async () => {
      const taken = refusal(409, 'spec.host: "a.example" belongs to ingress/shop/api');
      const onApply = ({ query }: Call) => (query.dry_run === "true" ? undefined : taken);
      const { code, err, calls } = await apply(["-y"], { onApply });
      expect(code).toBe(1);
      expect(err).toBe('error: spec.host: "a.example" belongs to ingress/shop/api\n');
      expect(writes(calls)).toHaveLength(1);
    });
  });

  test("faults that the server finds are shown in the file", async () => {
    const { code, err } = await apply([], {
      onApply: () =>
        refusal(400, "some words for people", {
          problems: [{ manifest: 1, path: "spec.bad", message: "unknown field", reason: "UnknownField" }],
        }),
    });
    expect(code).toBe(1);
    expect(err).toBe("stdin:6:3: spec.bad: unknown field\n  6 |   bad: 1\n    |   ^^^\n");
  });

  test("-o json prints the envelope of the apply alone on stdout", async () => {
    const { out, code } = await apply(["-o", "json"]);
    expect(JSON.parse(out)).toEqual({
      status: "ok",
      data: { applied: [stored("deployment/shop/web", { image: "web:2" }, 8)], pruned: [] },
    });
    expect(code).toBe(0);
  });

  test("-o json keeps the exit code and prints faults as an envelope", async () => {
    const { out, code, err } = await apply(["-o", "json"], { onApply: () => refusal(507, "disk full") });
    expect(JSON.parse(out)).toEqual({ status: "error", error: "disk full" });
    expect([code, err]).toEqual([1, ""]);
  });

  test.each([
    [["apply"], "say which manifests"],
    [["apply", "web.yaml", "db.yaml"], "files need -f: did you mean: berth apply -f web.yaml -f db.yaml\n"],
    [["apply", "-f", "-", "web.yaml"], '"web.yaml" is one word too many'],
    [["apply", "-f", "-", "--timeout", "soon"], 'not a duration: "soon"'],
  ])("%p is wrong usage", async (argv, text) => {
    const { code, err, calls } = await cli(argv, { stdin: web });
    expect(err).toContain(text);
    expect([code, calls]).toEqual([2, []]);
  });
});

test("a manifest of a kind that expands goes unguarded; a revision of the file's own stays", () => {
  const plan = {
    applied: [stored("deployment/shop/web"), stored("job/shop/own")],
    current: [stored("deployment/shop/web"), stored("job/shop/own")],
    pruned: [],
  };
  const app = { kind: "app", scope: "shop", name: "web" };
  const own = { kind: "Jobs", scope: "shop", name: "own", metadata: { if_revision: 3 } };
  expect(guarded([app, own], plan)).toEqual([app, own]);
});

describe("diff", () => {
  const diff = (flags: string[], script?: Script) =>
    cli(["diff", "-f", "-", ...flags], { stdin: web, server: scripted(script) });

  test("writes nothing and ends with 0 when there are changes", async () => {
    const { code, out, calls } = await diff([]);
    expect(out).toContain("~ deployment/shop/web");
    expect(code).toBe(0);
    expect(calls.map(({ query }) => query.dry_run)).toEqual(["true"]);
  });

  test("--detailed-exitcode: 2 with changes, 0 without, 1 on faults", async () => {
    expect((await diff(["--detailed-exitcode"])).code).toBe(2);
    expect((await diff(["--detailed-exitcode", "-o", "json"])).code).toBe(2);
    expect((await diff(["--detailed-exitcode"], { action: "unchanged" })).code).toBe(0);
    expect((await diff(["--detailed-exitcode"], { onApply: () => refusal(400, "bad") })).code).toBe(1);
  });
});

describe("apply of several resources of which one fails", () => {
  const yaml = ["web", "api"].map((name) => `kind: deployment\nscope: shop\nname: ${name}\nspec: {}\n`).join("---\n");
  const rows = ["web", "api"].map((name) => ({
    ...{ ref: `deployment/shop/${name}`, action: "update", changed: ["image"], replicas: [], notes: [] },
  }));
  const conf = { ref: "asset/shop/conf", action: "create", changed: [], replicas: [], notes: [] };
  const fates: Record<string, string> = { put_back: "put_back", stuck: "kept" };
  const group = (state: string, outcome: string) => ({
    ...{ id: "apply-1", state, started_at: "2026-01-01T00:00:00Z", error: "deployment/shop/web: CrashLoop" },
    failed: "deployment/shop/web",
    resources: rows.map(({ ref }) => ({ ref, action: "updated", fate: fates[state], outcome, revision: 9 })),
  });

  function server(groups: unknown[], atomic: boolean) {
    let asked = 0;
    return (call: Call): unknown => {
      if (call.path === "/applies/apply-1") return groups[Math.min(asked++, groups.length - 1)];
      if (call.path === "/describe") {
        const { name = "" } = call.query;
        const isBack = asked > 0;
        const phase = name === "web" && !isBack ? "failed" : "ready";
        const seen = status(phase, { observed_revision: 9 });
        return { manifest: stored(`deployment/shop/${name}`, {}, 9), status: seen, pods: [] };
      }
      if (call.path !== "/apply") return undefined;
      const dry = call.query.dry_run === "true";
      const applied = ["web", "api"].map((name) => stored(`deployment/shop/${name}`, { image: "app:2" }, 8));
      const current = ["web", "api"].map((name) => stored(`deployment/shop/${name}`, { image: "app:1" }));
      const planned = { dry_run: true, current, plan: [...rows, conf] };
      return { applied, pruned: [], ...(dry ? planned : atomic ? { atomic: "apply-1" } : {}) };
    };
  }

  const run = (groups: unknown[], ...flags: string[]) =>
    cli(["apply", "-f", "-", ...flags], { stdin: yaml, server: server(groups, flags.includes("--atomic")) });

  test("says what became of each, and how to have all or nothing", async () => {
    const { code, err } = await run([]);
    expect(code).toBe(1);
    expect(err).toEndWith(
      [
        "1 of 3 resources failed; the others stay changed:",
        "  deployment/shop/web  changed, failed",
        "  deployment/shop/api  changed, ready",
        "  asset/shop/conf      created",
        "  to put all of them back when one fails: berth apply --atomic",
        "",
      ].join("\n"),
    );
  });

  test("with --atomic waits for what is put back, and ends with 1", async () => {
    const { code, err, calls } = await run([group("waiting", ""), group("put_back", "put back")], "--atomic");
    expect(code).toBe(1);
    expect(writes(calls)[0]?.query.atomic).toBe("true");
    expect(err).toContain("everything was put back, because deployment/shop/web: CrashLoop\n");
    expect(err).toContain("  deployment/shop/web  put back\n  deployment/shop/api  put back\n");
    expect(err).toContain("what cannot be put back: release commands, jobs and webhooks that ran");
    expect(err).toEndWith("✓ deployment/shop/web is ready (1/1)\n✓ deployment/shop/api is ready (1/1)\n");
  });

  test("with --atomic shows until when the server waits for one that fails", async () => {
    const waiting = group("waiting", "");
    const resources = waiting.resources.map((one) => ({ ...one, until: "2026-01-01T00:05:00.000Z" }));
    const groups = [{ ...waiting, resources }, { ...waiting, resources }, group("put_back", "put back")];
    const down = server(groups, true);
    let looks = 0;
    const failing = (call: Call): unknown => {
      if (call.path !== "/describe" || call.query.name !== "web" || looks++ > 1) return down(call);
      const conditions = [{ type: "Degraded", status: true, reason: "ImagePull", message: "cannot pull app:2" }];
      const seen = status("failing", { observed_revision: 9, ready_replicas: 0, conditions });
      return { manifest: stored("deployment/shop/web", {}, 9), status: seen, pods: [] };
    };
    const { code, err } = await cli(["apply", "-f", "-", "--atomic"], { stdin: yaml, server: failing });
    expect(code).toBe(1);
    const told =
      "deployment/shop/web: 0/1 ready; ImagePull: cannot pull app:2; " +
      "the server gives up at 2026-01-01 00:05:00Z at the latest\n";
    expect(err.split(told)).toHaveLength(2);
    expect(err).toContain("everything was put back");
  });

  test("with --atomic tells why one went back: its own fault, or that of another", async () => {
    const releases = [
      { id: "r3", revision: 9, status: "running", cause: "auto_rollback", rolled_back_from: "r1" },
      { id: "r2", revision: 8, status: "failed", cause: "apply", error: "superseded by release r3" },
    ];
    const down = server([group("put_back", "put back")], true);
    let looks = 0;
    const both = (call: Call): unknown => {
      if (call.path !== "/describe" || looks++ > 1) return down(call);
      const seen = status("progressing", { observed_revision: 9, releases });
      return { manifest: stored(`deployment/shop/${call.query.name}`, {}, 9), status: seen, pods: [] };
    };
    const { err } = await cli(["apply", "-f", "-", "--atomic"], { stdin: yaml, server: both });
    expect(err).toContain("✗ deployment/shop/web rolled back to r1\n");
    expect(err).toContain("✗ deployment/shop/api rolled back to r1, because another resource failed\n");
    expect(err).toContain("everything was put back, because deployment/shop/web: CrashLoop\n");
  });

  test("with --atomic and --no-wait says that the server decides", async () => {
    const { code, err } = await run([], "--atomic", "--no-wait");
    expect([code, err]).toEqual([
      0,
      "not decided yet: the server keeps all of it or puts all of it back; see: berth events\n",
    ]);
  });

  test("with --atomic says so when the others could not be put back", async () => {
    const { code, err } = await run([group("stuck", "kept")], "--atomic");
    expect(code).toBe(1);
    expect(err).toContain("one resource failed, and the others could not be put back: deployment/shop/web: CrashLoop");
  });
});
