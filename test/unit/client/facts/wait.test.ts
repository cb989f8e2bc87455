import { describe, expect, test } from "bun:test";
import type { PodRecord } from "../../../../src/orchestration/api/pods.ts";
import { progressBlock, progressLines, podState, readyText } from "../../../../src/client/text/progress.ts";
import { type Look, type Waited, type WaitTarget, Silence, waitFor } from "../../../../src/client/facts/wait.ts";
import { pod } from "../../../support/cli.ts";
import { plainStyle } from "../../../support/plain-style.ts";

const pending: Look = { state: "pending", phase: "progressing", wanted: 2, ready: 1, pods: [], why: "" };
const ready: Look = { ...pending, state: "ready", phase: "ready", ready: 2 };
const failed: Look = { ...pending, state: "failed", phase: "failing", why: "ImagePull: no such image" };

/** Shows one look after the other; the last one for ever. An error in the list is thrown. */
function scripted(ref: string, looks: (Look | Error)[]): WaitTarget & { count: () => number } {
  let at = 0;
  return {
    ref,
    count: () => at,
    async look() {
      const look = looks[Math.min(at++, looks.length - 1)];
      if (look === undefined || look instanceof Error) throw look;
      return look;
    },
  };
}

function setup(change: { signal?: AbortSignal; onSleep?: () => void } = {}) {
  let now = 0;
  const rounds: string[][] = [];
  return {
    rounds,
    now: () => now,
    options: {
      clock: {
        now: () => now,
        sleep: async (ms: number) => {
          now += ms;
          change.onSleep?.();
        },
      },
      signal: change.signal ?? new AbortController().signal,
      pollMs: 100,
      timeoutMs: 1_000,
      silenceMs: 500,
      onRound: (round: readonly Waited[]) => void rounds.push(round.map(({ look }) => look.state)),
      passing: (error: unknown) => error instanceof RangeError,
    },
  };
}

describe("waitFor", () => {
  test("ends when the last one is ready, and looks at none again that is", async () => {
    const { options, rounds } = setup();
    const first = scripted("a", [ready]);
    const second = scripted("b", [pending, pending, ready]);
    const { outcome } = await waitFor([first, second], options);
    expect(outcome).toBe("ready");
    expect(rounds).toEqual([
      ["ready", "pending"],
      ["ready", "pending"],
      ["ready", "ready"],
    ]);
    expect(first.count()).toBe(1);
  });

  test("a failed one does not keep the others from being waited for", async () => {
    const { options } = setup();
    const { outcome, targets } = await waitFor([scripted("a", [failed]), scripted("b", [pending, ready])], options);
    expect(outcome).toBe("failed");
    expect(targets.map(({ look }) => look.state)).toEqual(["failed", "ready"]);
  });

  test("one that is gone is a failure", async () => {
    const { options } = setup();
    expect((await waitFor([scripted("a", [{ ...pending, state: "gone" }])], options)).outcome).toBe("failed");
  });

  test("the time is up after the timeout and not before", async () => {
    const { options, now } = setup();
    expect((await waitFor([scripted("a", [pending])], options)).outcome).toBe("timed out");
    expect(now()).toBe(1_000);
  });

  test("a failure wins over the time being up", async () => {
    const { options } = setup();
    expect((await waitFor([scripted("a", [failed]), scripted("b", [pending])], options)).outcome).toBe("failed");
  });

  test("a server that is away for a while is waited for", async () => {
    const { options } = setup();
    const target = scripted("a", [pending, new RangeError("away"), ready]);
    expect((await waitFor([target], options)).outcome).toBe("ready");
  });

  test("a server that stays away ends the wait, with the error of the last look", async () => {
    const { options, now } = setup();
    const away = new RangeError("away");
    const error = await waitFor([scripted("a", [pending, away])], options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Silence);
    expect(error).toMatchObject({ cause: away, silentMs: 500 });
    expect(now()).toBe(600);
  });

  test("a server that is away at the end of the time is not called slow", async () => {
    const { options } = setup();
    const looks = [...Array.from({ length: 8 }, () => pending), new RangeError("away")];
    await expect(waitFor([scripted("a", looks)], options)).rejects.toThrow(Silence);
  });

  test("a server that answers for one of several is there", async () => {
    const { options } = setup();
    const targets = [scripted("a", [new RangeError("away")]), scripted("b", [pending])];
    expect((await waitFor(targets, options)).outcome).toBe("timed out");
  });

  test("another error ends the wait", async () => {
    const { options } = setup();
    await expect(waitFor([scripted("a", [new TypeError("broken")])], options)).rejects.toThrow("broken");
  });

  test("Ctrl-C ends it at once", async () => {
    const controller = new AbortController();
    const { options } = setup({ signal: controller.signal, onSleep: () => controller.abort() });
    expect((await waitFor([scripted("a", [pending])], options)).outcome).toBe("interrupted");
  });
});

describe("progress", () => {
  const record = (name: string, change = {}): PodRecord => pod(name, change);
  const round = (look: Partial<Look>): Waited[] => [{ ref: "deployment/shop/web", look: { ...pending, ...look } }];

  test("lines tell what changed, once", () => {
    const first = round({
      pods: [record("shop-web.old11"), record("shop-web.a1b2c", { state: "created", running: false, ready: false })],
    });
    const second = round({ pods: [record("shop-web.a1b2c")], ready: 2 });
    expect(progressLines([], first)).toEqual([
      "deployment/shop/web: replica a1b2c created",
      "deployment/shop/web: 1/2 ready",
    ]);
    expect(progressLines(first, first)).toEqual([]);
    expect(progressLines(first, second)).toEqual([
      "deployment/shop/web: replica a1b2c running, ready",
      "deployment/shop/web: replica old11 removed",
      "deployment/shop/web: 2/2 ready",
    ]);
  });

  test("the count stands in a line once, and the end of the wait is not told here", () => {
    const why = (text: string, detail?: string) => progressLines([], round({ why: text, detail }));
    expect(why("1 of 2 replicas ready; creating 1", "creating 1")).toEqual([
      "deployment/shop/web: 1/2 ready; creating 1",
    ]);
    expect(why("1 of 2 replicas ready", "")).toEqual(["deployment/shop/web: 1/2 ready"]);
    expect(why("PortTaken: port 80 is held")).toEqual(["deployment/shop/web: 1/2 ready; PortTaken: port 80 is held"]);
    expect(progressLines([], round({ phase: "", why: "Docker is away" }))).toEqual([
      "deployment/shop/web: Docker is away",
    ]);
    const pods = [record("shop-web.a1b2c")];
    expect(progressLines([], round({ ...ready, pods }))).toEqual([]);
    expect(progressLines(round({ pods }), round({ ...ready, pods }))).toEqual([]);
  });

  test("the block shows replicas only while there is something to wait for", () => {
    const frame = { style: plainStyle, elapsedMs: 12_000, tick: 0 };
    const pods = [record("shop-web.a1b2c", { ready: false, restarts: 2 })];
    expect(progressBlock(round({ pods, why: "starts" }), frame)).toEqual([
      "⠋ deployment/shop/web  1/2 ready  12s  starts",
      "    a1b2c  running, not ready yet, 2 restarts",
    ]);
    const canary: Look["canary"] = {
      release: "0t85s0067",
      state: "waiting",
      text: "canary step 1 of 2, 5 % of the requests for 2m",
      step: 1,
      steps: [],
      share: 0.05,
      left_seconds: 80,
      replicas: { new: 1, old: 2 },
      traffic: { seconds: 40, new: { requests: 12, failed: 0 }, old: { requests: 200, failed: 0 } },
    };
    expect(progressBlock(round({ pods: [], why: canary.text, canary }), frame)).toEqual([
      "⠋ deployment/shop/web  1/2 ready  12s",
      "    canary step 1 of 2, 5 % of the requests for 2m, 80s left; new replicas in the last 40s: 12 requests, 0 failed",
    ]);
    expect(progressBlock(round({ ...ready, pods }), frame)).toEqual(["✓ deployment/shop/web  2/2 ready"]);
    expect(progressBlock(round({ phase: "", wanted: 0 }), frame)).toEqual([
      "⠋ deployment/shop/web  waiting for the server  12s",
    ]);
  });

  test.each([
    [{}, "running, ready"],
    [{ ready: false }, "running, not ready yet"],
    [{ ready: false, stopping: true }, "stopping"],
    [{ ready: false, stopping: true, frozen: true }, "stopping, frozen"],
    [{ ready: false, running: false, state: "exited", exit_code: 0 }, "exited"],
    [
      { ready: false, running: false, state: "restarting", exit_code: 7, restarts: 1 },
      "restarting, exit code 7, 1 restart",
    ],
    [{ ready: false, running: false, state: "exited", exit_code: 137, oom_killed: true }, "exited, out of memory"],
    [{ ready: false, running: false, state: "exited", frozen: true }, "exited, frozen"],
  ])("podState(%p)", (change, text) => {
    expect(podState(record("shop-web.a1b2c", change))).toBe(text);
  });
});

test.each([
  [{ ready: 1, wanted: 2 }, "1/2 ready"],
  [{ ready: 3, wanted: 0 }, "3 still to stop"],
  [{ ready: 5, wanted: 2 }, "2/2 ready, 3 still to stop"],
  [{ ready: 0, wanted: 0 }, "scaled to 0"],
])("%p reads %s", (look, text) => {
  expect(readyText(look)).toBe(text);
});
