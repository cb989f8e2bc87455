import { describe, expect, test } from "bun:test";
import type { Clock } from "../../../../src/base/words/clock.ts";
import { createQueue, type QueueOptions } from "../../../../src/base/words/queue.ts";

/** Time that moves only when told to. */
function handClock(): Clock & { advance(ms: number): Promise<void>; sleepers(): number } {
  let now = 0;
  let sleepers: { at: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener("abort", () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          resolve();
        });
      }),
    async advance(ms) {
      now += ms;
      const due = sleepers.filter(({ at }) => at <= now);
      sleepers = sleepers.filter(({ at }) => at > now);
      for (const { wake } of due) wake();
      await settle();
    },
    sleepers: () => sleepers.length,
  };
}

/** Lets every promise that can go on go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

interface Run {
  key: string;
  signal: AbortSignal;
  end(outcome?: { againInMs?: number }): void;
  fail(error: unknown): void;
}

/** A queue whose runs end when the test says so. */
function rig(overrides: Partial<QueueOptions<string>> = {}) {
  const clock = handClock();
  const open: Run[] = [];
  const started: string[] = [];
  const errors: { key: string; error: unknown; attempts: number }[] = [];
  const queue = createQueue<string>({
    workers: 2,
    run: (key, signal) => {
      started.push(key);
      return new Promise((resolve, reject) => open.push({ key, signal, end: resolve, fail: reject }));
    },
    onError: (key, error, { attempts }) => errors.push({ key, error, attempts }),
    backoff: { firstMs: 1_000, maxMs: 60_000, random: () => 0 },
    clock,
    ...overrides,
  });
  const finish = async (key: string, how: (run: Run) => void) => {
    const index = open.findIndex((run) => run.key === key);
    const [run] = open.splice(index, 1);
    if (index < 0 || run === undefined) throw new Error(`${key} does not run`);
    how(run);
    await settle();
  };
  return {
    queue,
    clock,
    started,
    errors,
    open,
    add: async (...keys: string[]) => {
      for (const key of keys) queue.add(key);
      await settle();
    },
    end: (key: string, outcome?: { againInMs?: number }) => finish(key, (run) => run.end(outcome)),
    fail: (key: string, error: unknown = new Error("boom")) => finish(key, (run) => run.fail(error)),
  };
}

describe("running", () => {
  test("a key added twice in a row runs once", async () => {
    const { add, started, end, queue } = rig();
    await add("a", "a");
    await end("a");
    expect(started).toEqual(["a"]);
    expect(queue.size).toBe(0);
  });

  test("no more keys run at once than there are workers; the rest follow in order", async () => {
    const { add, started, end, queue } = rig();
    await add("a", "b", "c", "d");
    expect(started).toEqual(["a", "b"]);
    expect(queue.size).toBe(4);
    await end("b");
    expect(started).toEqual(["a", "b", "c"]);
  });

  test("a key never runs twice at once; adds during its run make one more run", async () => {
    const { add, started, end, open } = rig();
    await add("a");
    await add("a");
    await add("a");
    expect(open.length).toBe(1);
    await end("a");
    expect(started).toEqual(["a", "a"]);
    await end("a");
    expect(started).toEqual(["a", "a"]);
  });

  test("a key that is busy does not hold a free worker", async () => {
    const { add, started } = rig();
    await add("a");
    await add("a", "b");
    expect(started).toEqual(["a", "b"]);
  });

  test("a run that throws before its first await is a failure like any other", async () => {
    const { add, errors, queue } = rig({
      run: () => {
        throw new Error("at once");
      },
    });
    await add("a");
    expect(errors.map(({ attempts }) => attempts)).toEqual([1]);
    expect(queue.size).toBe(0);
  });
});

describe("again", () => {
  test("a run that asks for another gets it when the time has passed", async () => {
    const { add, started, end, clock } = rig();
    await add("a");
    await end("a", { againInMs: 500 });
    await clock.advance(499);
    expect(started.length).toBe(1);
    await clock.advance(1);
    expect(started.length).toBe(2);
  });

  test("an add makes the wait that a run asked for pointless", async () => {
    const { add, started, end, clock } = rig();
    await add("a");
    await end("a", { againInMs: 500 });
    await add("a");
    await end("a");
    await clock.advance(10_000);
    expect(started.length).toBe(2);
    expect(clock.sleepers()).toBe(0);
  });

  test("of several wishes the earliest counts, and an add does not cancel it", async () => {
    const { queue, add, started, end, clock } = rig();
    queue.addAfter("a", 5_000);
    queue.addAfter("a", 2_000);
    queue.addAfter("a", 9_000);
    await add("a");
    await end("a");
    await clock.advance(2_000);
    expect(started.length).toBe(2);
    await end("a");
    await clock.advance(10_000);
    expect(started.length).toBe(2);
  });

  test("a wish for now is an add", async () => {
    const { queue, started } = rig();
    queue.addAfter("a", 0);
    await settle();
    expect(started).toEqual(["a"]);
  });

  test("a wish that ends during a run makes one more run", async () => {
    const { queue, add, started, end, clock } = rig();
    queue.addAfter("a", 100);
    await add("a");
    await clock.advance(100);
    expect(started.length).toBe(1);
    await end("a");
    expect(started.length).toBe(2);
  });
});

describe("failing", () => {
  test("is retried for ever, each key with its own back-off", async () => {
    const { add, fail, end, errors, started, clock } = rig();
    await add("a", "b");
    await fail("a");
    await end("b");
    await clock.advance(1_000);
    await fail("a");
    await clock.advance(1_999);
    expect(started).toEqual(["a", "b", "a"]);
    await clock.advance(1);
    expect(started).toEqual(["a", "b", "a", "a"]);
    await add("b");
    await fail("b");
    expect(errors.map(({ key, attempts }) => `${key}${attempts}`)).toEqual(["a1", "a2", "b1"]);
  });

  test("an add runs it now and keeps the count of attempts", async () => {
    const { add, fail, errors, clock } = rig();
    await add("a");
    await fail("a");
    await add("a");
    await fail("a");
    expect(errors.map(({ attempts }) => attempts)).toEqual([1, 2]);
    expect(clock.sleepers()).toBe(1);
  });

  test("a success begins the count anew", async () => {
    const { add, fail, end, errors, queue } = rig();
    await add("a");
    await fail("a");
    expect(queue.failing).toBe(1);
    await add("a");
    await end("a");
    expect(queue.failing).toBe(0);
    await add("a");
    await fail("a");
    expect(errors.map(({ attempts }) => attempts)).toEqual([1, 1]);
  });

  test("added during the run that fails, it runs at once and no retry is left over", async () => {
    const { add, fail, end, started, clock } = rig();
    await add("a");
    await add("a");
    await fail("a");
    expect(started.length).toBe(2);
    await end("a");
    expect(clock.sleepers()).toBe(0);
  });

  test("a terminal error rests until the next add", async () => {
    const { add, fail, started, errors, clock, queue } = rig({ isTerminal: (error) => error === "invalid" });
    await add("a");
    await fail("a", "invalid");
    await clock.advance(1_000_000);
    expect(started.length).toBe(1);
    expect(queue.failing).toBe(1);
    expect(errors).toEqual([{ key: "a", error: "invalid", attempts: 1 }]);
    await add("a");
    expect(started.length).toBe(2);
  });
});

describe("idle and close", () => {
  test("idle waits for all that runs and waits, not for timers", async () => {
    const { queue, add, end } = rig({ workers: 1 });
    queue.addAfter("later", 1_000);
    let idle = false;
    await add("a", "b");
    void queue.idle().then(() => {
      idle = true;
    });
    await end("a");
    expect(idle).toBe(false);
    await end("b");
    expect(idle).toBe(true);
    await queue.idle();
  });

  test("close aborts the running, drops the waiting, ends the timers and refuses more", async () => {
    const { queue, add, open, fail, started, errors, clock } = rig({ workers: 1 });
    await add("a", "b");
    queue.addAfter("c", 1_000);
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await settle();
    expect(closed).toBe(false);
    expect(open[0]?.signal.aborted).toBe(true);
    expect(clock.sleepers()).toBe(0);
    await fail("a", new Error("aborted"));
    await closing;
    queue.add("d");
    queue.addAfter("e", 1);
    await clock.advance(10_000);
    expect(started).toEqual(["a"]);
    expect(errors).toEqual([]);
  });

  test("close of a queue that never ran resolves, also for those who wait for idle", async () => {
    const { queue } = rig();
    queue.add("a");
    const idle = queue.idle();
    await queue.close();
    await idle;
    expect(queue.size).toBe(0);
  });
});
