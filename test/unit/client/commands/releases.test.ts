import { describe, expect, test } from "bun:test";
import { digestOf } from "../../../../src/client/facts/digest.ts";
import { type Call, cli, pod, refusal, type Scene, stored } from "../../../support/cli.ts";

const id = "0t85s0067";
const banner = (text: string) => `-----> Release ${id} ${text}\n`;
const text = (body: string | ReadableStream) => new Response(body, { headers: { "Content-Type": "text/plain" } });

const record = {
  id,
  status: "failed",
  cause: "apply",
  spec_hash: "h",
  revision: 8,
  image: "web:2",
  started_at: "2026-01-01T23:58:00.000Z",
  ended_at: "2026-01-01T23:59:30.000Z",
  error: "CrashLoop: shop-web.a1b2c crash-loops",
  spec_snapshot: {},
};

/** A status of GET /describe, with releases newest first. */
function status(phase: string, releases: Record<string, unknown>[], change: Record<string, unknown> = {}) {
  return {
    phase,
    replicas: 1,
    ready_replicas: phase === "ready" ? 1 : 0,
    observed_revision: 9,
    conditions: [],
    last_reconcile_at: "2026-01-02T00:00:00Z",
    releases,
    ...change,
  };
}

const described = (current: unknown) => ({
  manifest: stored("deployment/shop/web", {}, 9),
  status: current,
  pods: [pod("shop-web.a1b2c")],
});

describe("release run", () => {
  const run = (body: string | ReadableStream, ...flags: string[]) =>
    cli(["release", "run", "shop/web", ...flags], { server: () => text(body) });

  test("shows the output without what drives a terminal, and ends with 0 when the last line says so", async () => {
    const output = `-----> Release ${id}: command\nmigrating… 50 %\r100 %\n${banner("succeeded")}`;
    const { out, code, calls } = await run(output);
    expect([out, code]).toEqual([output.replace("\r", "\n"), 0]);
    expect(calls).toMatchObject([{ method: "POST", path: "/releases/run", query: { scope: "shop", name: "web" } }]);
  });

  test("ends with 1 when the last line says failed", async () => {
    expect((await run(`it failed\n${banner("failed in command (exit 3)")}`)).code).toBe(1);
  });

  test("is not taken in by what a program prints", async () => {
    expect((await run(`${banner("failed")}${banner("succeeded")}`)).code).toBe(0);
    expect((await run(`${banner("succeeded")}one more line\n`)).code).toBe(4);
  });

  test("says how to go on when the connection breaks", async () => {
    const pieces = [new TextEncoder().encode("half\n")];
    const broken = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.error(new Error("reset"));
        else controller.enqueue(piece);
      },
    });
    const { out, err, code } = await run(broken);
    expect([out, code]).toEqual(["half\n", 4]);
    expect(err).toContain("the release goes on; see how: berth release run shop/web --follow");
  });

  test("--follow joins the one under way", async () => {
    expect((await run(banner("succeeded"), "--follow")).calls[0]?.query).toMatchObject({ follow: "true" });
  });

  test("of one that is under way says how to watch it", async () => {
    const { err, code } = await cli(["release", "run", "shop/web"], {
      server: () => refusal(409, `release ${id} is in progress`),
    });
    expect(code).toBe(1);
    expect(err).toBe(`error: release ${id} is in progress\n  watch it: berth release run shop/web --follow\n`);
  });

  test("-o json keeps stdout for the envelope", async () => {
    const { out, err } = await run(`migrating\n${banner("failed: CrashLoop")}`, "-o", "json");
    expect(JSON.parse(out)).toEqual({
      status: "ok",
      data: { name: "web", release: id, status: "failed", end: "failed: CrashLoop" },
    });
    expect(err).toContain("migrating\n");
  });

  test.each([[["release"]], [["release", "show", "shop/web"]], [["release", "run"]], [["release", "run", "a/b", "c"]]])(
    "%p is wrong usage",
    async (argv) => expect((await cli(argv)).code).toBe(2),
  );
});

describe("releases", () => {
  test("names the assets that a rollback took back", async () => {
    const back = { ...record, status: "succeeded", taken_back: ['_asset_digests["shop.page.index"]', "image"] };
    const { out } = await cli(["releases", "shop/web"], {
      server: () => ({ releases: [{ ...back, error: undefined }] }),
    });
    expect(out).toContain("took back asset shop.page.index, image");
  });

  test("are a table, newest first", async () => {
    const back = {
      ...record,
      id: "0t85s0088",
      status: "succeeded",
      cause: "auto_rollback",
      rolled_back_from: "0t85s0001",
    };
    const { out, calls } = await cli(["releases", "shop/web"], {
      server: () => ({
        releases: [
          { ...back, error: undefined, post_exit_code: 9 },
          { ...record, ended_at: undefined, status: "running", error: undefined },
          record,
        ],
      }),
    });
    expect(calls[0]).toMatchObject({ path: "/releases", query: { scope: "shop", name: "web" } });
    expect(out).toBe(
      [
        "ID         STATUS     CAUSE                       REVISION  IMAGE  AGE  TOOK  WHY",
        "0t85s0088  succeeded  auto_rollback to 0t85s0001  8         web:2  2m   90s   post_command failed (exit 9)",
        "0t85s0067  running    apply                       8         web:2  2m   2m",
        "0t85s0067  failed     apply                       8         web:2  2m   90s   CrashLoop: shop-web.a1b2c crash-loops",
        "",
      ].join("\n"),
    );
  });

  test("show the step of a canary that is under way", async () => {
    const canary = { text: "canary step 1 of 3, 5 % of the requests for 2m" };
    const going = { ...record, status: "running", error: undefined, ended_at: undefined, canary };
    const { out } = await cli(["releases", "shop/web"], { server: () => ({ releases: [going] }) });
    expect(out).toContain("canary step 1 of 3, 5 % of the requests for 2m");
  });

  test("show the reason of a failed one, then what visitors saw of it", async () => {
    const span = { seconds: 60, requests: 412, failed: 31, p99_ms: 41 };
    const failed = { ...record, receipt: { before: { ...span, failed: 0, p99_ms: 38 }, during: span } };
    const { out } = await cli(["releases", "shop/web"], { server: () => ({ releases: [failed] }) });
    expect(out).toContain(`${record.error}; 412 requests during the switch, 31 failed, p99 38 ms → 41 ms`);
  });

  test("show why, in the words of whoever asked, first", async () => {
    const { out } = await cli(["releases", "shop/web"], {
      server: () => ({ releases: [{ ...record, message: "raise\u001bthe limit" }] }),
    });
    expect(out).toContain(`"raise the limit"; ${record.error}`);
  });

  test("of something that has none, and of a statefulset", async () => {
    const { out, calls } = await cli(["releases", "shop/db", "-k", "sts"], { server: () => ({ releases: [] }) });
    expect(out).toBe("no releases yet\n");
    expect(calls[0]?.query).toEqual({ kind: "sts", scope: "shop", name: "db" });
  });
});

describe("rollback", () => {
  const target = { scope: "shop", name: "web", kind: "deployment" };
  const answer = { ...target, rolled_back_to: "0t85s0001", new_release: id, taken_back: ["env.MODE", "image"] };

  function rollback(statuses: unknown[], ...flags: string[]) {
    let looks = 0;
    return cli(["rollback", "shop/web", ...flags], {
      server: ({ path }: Call) =>
        path === "/rollback" ? answer : described(statuses[Math.min(looks++, statuses.length - 1)]),
    });
  }

  test("waits for its own release, not for what is ready already", async () => {
    const going = { ...record, status: "running" };
    const done = { ...record, status: "succeeded" };
    const { out, err, code, calls } = await rollback([
      status("ready", [going]),
      status("progressing", [going]),
      status("ready", [done]),
    ]);
    expect(out).toBe("rolling deployment/shop/web back to release 0t85s0001\n  taken back: env.MODE, image\n");
    expect(err).toEndWith("✓ deployment/shop/web is ready (1/1)\n");
    expect([code, calls.filter(({ path }) => path === "/describe").length]).toEqual([0, 3]);
  });

  test("goes to the release that was named", async () => {
    const { calls } = await rollback([status("ready", [{ ...record, status: "succeeded" }])], "--to", "0t85s0001");
    expect(calls[0]?.query).toMatchObject({ scope: "shop", name: "web", release_id: "0t85s0001" });
  });

  test("that fails ends with 1 and its error", async () => {
    const { code, err } = await rollback([status("ready", [record])]);
    expect(code).toBe(1);
    expect(err).toContain(
      `✗ deployment/shop/web is not ready: release ${id} failed: CrashLoop: shop-web.a1b2c crash-loops`,
    );
    expect(err).toContain("see: berth why shop/web");
  });

  test("--dry-run shows the fields with both values, and asks for no rollback", async () => {
    const { new_release: _, ...dry } = answer;
    const snapshot = (image: string, mode: string) => ({ spec_snapshot: { image, env: { MODE: mode } } });
    const past = { ...record, id: "0t85s0001", ...snapshot("web:1", "a") };
    const { out, code, calls } = await cli(["rollback", "shop/web", "--dry-run"], {
      server: ({ path }: Call) =>
        path === "/rollback" ? dry : { releases: [{ ...record, ...snapshot("web:2", "b") }, past] },
    });
    expect(out).toMatch(/^would roll deployment\/shop\/web back to release 0t85s0001\n {2}env\.MODE \S+ → \S+\n/);
    expect(out).toEndWith('  image "web:2" → "web:1"\nnothing was changed\n');
    expect([code, calls.map(({ query }) => query.dry_run)]).toEqual([0, ["true", undefined]]);
  });

  test("--no-wait does not look", async () => {
    expect((await rollback([], "--no-wait")).calls).toHaveLength(1);
  });
});

describe("apply waits for the release of what it applied", () => {
  const yaml = "kind: deployment\nscope: shop\nname: web\nspec:\n  image: web:2\n";

  function apply(statuses: unknown[], scene: Scene = {}, phase?: () => Response) {
    let looks = 0;
    return cli(["apply", "-f", "-", "--timeout", "1m"], {
      stdin: yaml,
      server({ path, query }: Call) {
        if (path === "/releases/run") return phase?.();
        if (path === "/describe") return described(statuses[Math.min(looks++, statuses.length - 1)]);
        const plan = [{ ref: "deployment/shop/web", action: "update", changed: ["image"], replicas: [], notes: [] }];
        const applied = [stored("deployment/shop/web", { image: "web:2" }, 8)];
        const dry = { dry_run: true, current: [stored("deployment/shop/web")], plan };
        return { applied, pruned: [], ...(query.dry_run === "true" ? dry : {}) };
      },
      ...scene,
    });
  }

  test("one that was rolled back is a failure, although what runs is ready", async () => {
    const goal = { rolled_back_from: "0t85s0001" };
    const back = { ...record, ...goal, id: "0t85s0099", status: "succeeded", cause: "auto_rollback", revision: 9 };
    const { code, err } = await apply([status("ready", [{ ...back, error: undefined }, record])]);
    expect(code).toBe(1);
    expect(err).toContain(
      "✗ deployment/shop/web rolled back to 0t85s0001, because release 0t85s0067 failed: CrashLoop",
    );
  });

  test("one that was rolled back prints what was taken back", async () => {
    const fields = { rolled_back_from: "0t85s0001", taken_back: ["env.MODE", "image", "ports"] };
    const spec_snapshot = { image: "web:1" };
    const changed = { id: "0t85s0099", status: "succeeded", cause: "auto_rollback", revision: 9, error: undefined };
    const back = { ...record, ...fields, ...changed, spec_snapshot };
    const failed = { ...record, spec_snapshot: { image: "web:2", env: { MODE: "secret" }, ports: ["8080:80"] } };
    const { err } = await apply([status("ready", [back, failed])]);
    expect(err).toContain(
      `  taken back: env.MODE ${digestOf("secret")} → –, image "web:2" → "web:1", ports ["8080:80"] → –`,
    );
  });

  test("a failed one that a later apply came after did not go back", async () => {
    const later = { ...record, id: "0t85s0099", status: "running", cause: "apply", revision: 9 };
    const { code, err } = await apply([status("progressing", [{ ...later, error: undefined }, record])]);
    expect(code).toBe(1);
    expect(err).toContain("✗ deployment/shop/web is not ready: release 0t85s0067 failed: CrashLoop");
  });

  test("a fault that ends the release within a moment is told by the release", async () => {
    const crash = { type: "Degraded", status: true, reason: "CrashLoop", message: "restarted 3 times", at: "" };
    const going = { ...record, status: "running", error: undefined };
    const { err } = await apply([status("failing", [going], { conditions: [crash] }), status("ready", [record])]);
    expect(err).toContain("release 0t85s0067 failed: CrashLoop: shop-web.a1b2c crash-loops");
  });

  test("another fault is told at once: the release may take as long as its deadline", async () => {
    const missing = { type: "Degraded", status: true, reason: "ImagePull", message: "no such image", at: "" };
    const going = { ...record, status: "running", error: undefined };
    const { code, err } = await apply([status("failing", [going], { conditions: [missing] })]);
    expect(code).toBe(1);
    expect(err).toContain("is not ready: ImagePull: no such image");
  });

  test("shows what the commands print while they run, and not twice", async () => {
    const pending = { ...record, status: "pending", error: undefined };
    const done = { ...record, status: "succeeded", error: undefined };
    const { code, err, calls } = await apply(
      [status("progressing", [pending]), status("progressing", [pending]), status("ready", [done])],
      {},
      () => text(`-----> Release ${id}: command\nmigrating\n`),
    );
    expect(code).toBe(0);
    expect(err).toContain("deployment/shop/web | migrating\n");
    expect(calls.filter(({ path }) => path === "/releases/run")).toMatchObject([
      { query: { scope: "shop", name: "web", follow: "true" } },
    ]);
  });

  test("goes on waiting where the output cannot be had", async () => {
    const pending = { ...record, status: "pending", error: undefined };
    const done = { ...record, status: "succeeded", error: undefined };
    expect((await apply([status("progressing", [pending]), status("ready", [done])])).code).toBe(0);
  });
});
