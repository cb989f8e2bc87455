import { describe, expect, test } from "bun:test";
import { type Call, cli, pod, refusal, stored } from "../../../support/cli.ts";

const target = { kind: "deployment", scope: "shop", name: "web" };
const canary = {
  release: "0t85s0067",
  state: "waiting",
  text: "canary step 1 of 3, 5 % of the requests for 2m",
  step: 1,
  steps: [{ share: 0.05, pause_seconds: 120 }, { share: 0.25 }, { share: 0.5, pause_seconds: 0 }],
  share: 0.05,
  left_seconds: 80,
  replicas: { new: 1, old: 4 },
  traffic: {
    seconds: 30,
    new: { requests: 120, failed: 1, p99_ms: 41 },
    old: { requests: 2_300, failed: 0, p99_ms: 38 },
  },
};
const rollout = { ...target, release: "0t85s0067", status: "running", canary };

/** `GET /describe` of a release with its canary. */
function described(phase: string, release: Record<string, unknown>, own?: Record<string, unknown>) {
  const status = {
    phase,
    replicas: 4,
    ready_replicas: 4,
    observed_revision: 9,
    last_reconcile_at: "2026-01-02T00:00:00Z",
    conditions: [{ type: "Ready", status: false, reason: "ReplicasNotReady", message: own?.text ?? "" }],
    releases: [{ id: "0t85s0067", cause: "apply", revision: 9, started_at: "2026-01-02T00:00:00Z", ...release }],
    ...(own === undefined ? {} : { canary: own }),
  };
  return { manifest: stored("deployment/shop/web", {}, 9), status, pods: [pod("shop-web.a1b2c")] };
}

describe("rollout status", () => {
  test("shows the step, what comes next, and what visitors see", async () => {
    const { out, code, calls } = await cli(["rollout", "status", "shop/web"], { server: () => rollout });
    expect(calls).toMatchObject([{ method: "GET", path: "/rollouts", query: { scope: "shop", name: "web" } }]);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        "deployment/shop/web  release 0t85s0067 running",
        "  canary    canary step 1 of 3, 5 % of the requests for 2m, 80s left",
        "  then      25 % until resumed, 50 %",
        "  running   1 new, 4 old",
        "  last 30s  new 120 requests, 1 failed, p99 41 ms; old 2300 requests, 0 failed, p99 38 ms",
        "",
      ].join("\n"),
    );
  });

  test("of a release without a canary says what it waits for, or why it failed", async () => {
    const plain = { ...target, release: "0t85s0067", status: "running", message: "1 of 4 replicas ready" };
    expect((await cli(["rollout", "status", "shop/web"], { server: () => plain })).out).toContain(
      "now  1 of 4 replicas ready",
    );
    const failed = { ...target, release: "0t85s0067", status: "failed", error: "Aborted: by ana" };
    expect((await cli(["rollout", "status", "shop/web"], { server: () => failed })).out).toContain("Aborted: by ana");
    expect((await cli(["rollout", "status", "shop/web"], { server: () => target })).out).toBe(
      "deployment/shop/web has no release yet\n",
    );
  });

  test("--watch prints again after each step, not with the time that passes", async () => {
    let looks = 0;
    const server = () => {
      looks += 1;
      const left = { ...canary, left_seconds: 80 - looks };
      return { ...rollout, canary: looks < 4 ? left : { ...left, step: 2, text: "canary step 2 of 3" } };
    };
    const onSleep = (passedMs: number, interrupt: () => void) => {
      if (passedMs > 20_000) interrupt();
    };
    const { out, code } = await cli(["rollout", "status", "shop/web", "-w"], { server, onSleep });
    expect(out.match(/^deployment/gm)).toHaveLength(2);
    expect([code, out.indexOf("step 1 of 3") < out.indexOf("step 2 of 3")]).toEqual([130, true]);
  });

  test("says until when old replicas are kept", async () => {
    const kept = { ...canary, state: "kept", step: 4, kept_until: "2026-01-02T00:10:00.000Z", left_seconds: undefined };
    const { out } = await cli(["rollout", "status", "shop/web"], { server: () => ({ ...rollout, canary: kept }) });
    expect(out).toContain("kept until  2026-01-02 00:10:00Z");
    expect(out).not.toContain("then");
  });
});

describe("rollout", () => {
  test.each(["pause", "resume"])("%s tells the server and shows what came of it", async (verb) => {
    const { out, calls, code } = await cli(["rollout", verb, "shop/web"], { server: () => rollout });
    expect(calls).toMatchObject([{ method: "POST", path: `/rollouts/${verb}` }]);
    expect([code, out.split("\n")[0]]).toEqual([0, "deployment/shop/web  release 0t85s0067 running"]);
  });

  test.each(["promote", "abort"])("%s waits until the release is ready", async (verb) => {
    const server = ({ path }: Call) =>
      path === "/describe" ? described("ready", { status: "succeeded" }) : { ...rollout, canary: undefined };
    const { err, code, calls } = await cli(["rollout", verb, "shop/web"], { server });
    expect(calls[0]).toMatchObject({ method: "POST", path: `/rollouts/${verb}` });
    expect([code, err]).toEqual([0, "✓ deployment/shop/web is ready (4/4)\n"]);
    expect((await cli(["rollout", verb, "shop/web", "--no-wait"], { server })).calls).toHaveLength(1);
  });

  test("passes on why there is nothing to do", async () => {
    const { err, code } = await cli(["rollout", "resume", "shop/web"], {
      server: () => refusal(409, "deployment/shop/web: release 0t85s0067: it is not paused"),
    });
    expect(code).toBe(1);
    expect(err).toContain("it is not paused");
  });

  test("asks for one resource", async () => {
    expect((await cli(["rollout", "pause"])).err).toContain("say which rollout: one SCOPE/NAME");
  });
});

describe("whoever waits for a canary", () => {
  const wait = (looks: unknown[], ...flags: string[]) => {
    let count = 0;
    return cli(["rollout", "promote", "shop/web", ...flags], {
      server: ({ path }: Call) => (path === "/describe" ? looks[Math.min(count++, looks.length - 1)] : rollout),
    });
  };

  test("is told of each step", async () => {
    const next = { ...canary, step: 3, text: "canary step 3 of 3, 50 % of the requests", left_seconds: 0 };
    const { err, code } = await wait([
      described("progressing", { status: "running" }, canary),
      described("progressing", { status: "running" }, next),
      described("ready", { status: "succeeded" }),
    ]);
    expect(code).toBe(0);
    expect(err).toContain("4/4 ready; canary step 1 of 3, 5 % of the requests for 2m\n");
    expect(err).toContain(
      "canary step 1 of 3 passed; new replicas in the last 30s: 120 requests, 1 failed, p99 41 ms\n",
    );
    expect(err).toContain("4/4 ready; canary step 3 of 3, 50 % of the requests\n");
  });

  test("stops waiting at a step that waits for a person, and ends with 0", async () => {
    const text = "canary step 2 of 3, 25 % of the requests; waits for: berth rollout resume";
    const { err, code } = await wait([
      described("progressing", { status: "running" }, { ...canary, state: "paused", text, left_seconds: undefined }),
    ]);
    expect(code).toBe(0);
    expect(err).toEndWith(
      [
        "… deployment/shop/web waits for you at canary step 2 of 3, 25 % of the requests",
        "  go on: berth rollout resume shop/web",
        "  back:  berth rollout abort shop/web",
        "",
      ].join("\n"),
    );
  });

  test("waits through the time of a step, and has its own time after it", async () => {
    const going = described("progressing", { status: "running" }, canary);
    const looks = [...Array.from({ length: 60 }, () => going), described("ready", { status: "succeeded" })];
    expect((await wait(looks, "--timeout", "5s")).code).toBe(0);
    const stuck = described("progressing", { status: "running" }, { ...canary, left_seconds: undefined });
    expect((await wait([stuck], "--timeout", "5s")).code).not.toBe(0);
  });
});
