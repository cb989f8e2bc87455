import { afterEach, describe, expect, test } from "bun:test";
import { type CallState, createOutbox, type Outbox, type WaitingCall } from "../../../../src/base/deliver/outbox.ts";
import type { Attempt, WebhookCall } from "../../../../src/base/deliver/webhook.ts";
import { createLog } from "../../../../src/base/words/log.ts";
import { createFakeClock, testEpoch } from "../../../support/fake-clock.ts";
import { createTurns } from "../../../support/turns.ts";

const failed: Attempt = { outcome: "failed", result: "status 503" };
const delivered: Attempt = { outcome: "delivered", result: "status 204" };

let stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops) await stop();
  stops = [];
});

type Row = WaitingCall & { status: CallState["status"]; lastResult?: string };

/** An outbox over rows in memory; `answer` says what comes of each attempt. */
function scene(
  answer: (call: WebhookCall, attempt: number) => Attempt | Promise<Attempt>,
  rows: Row[] = [],
  more: { over?: (call: Row) => string | undefined; isKept?: (call: Row) => boolean } = {},
) {
  const clock = createFakeClock();
  const logged: string[] = [];
  const sent: { id: string; afterMs: number }[] = [];
  const store = { failing: false, rows };
  let outbox: Outbox;
  let stopping = new AbortController();
  let ended: Promise<void>;

  function start() {
    stopping = new AbortController();
    const { signal } = stopping;
    outbox = createOutbox<Row>({
      waiting: (limit) =>
        store.rows
          .filter(({ status }) => status === "waiting")
          .sort((a, b) => a.nextAt - b.nextAt)
          .slice(0, limit),
      async record(call, state) {
        await Promise.resolve();
        if (store.failing) throw new Error("the disk is full");
        store.rows = store.rows.map((row) => (row.id === call.id ? { ...row, ...state } : row));
      },
      async send(call, sendSignal) {
        sent.push({ id: call.id, afterMs: clock.now() - testEpoch });
        const aborted = new Promise<never>((_, reject) =>
          sendSignal.addEventListener("abort", () => reject(sendSignal.reason), { once: true }),
        );
        return Promise.race([answer(call, call.attempts), aborted]);
      },
      clock,
      log: createLog((line) => logged.push(line)),
      pausesMs: [1_000, 5_000],
      longestWaitMs: 60_000,
      inFlightMax: 2,
      ...more,
    });
    ended = outbox.run(signal);
  }
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  stops.push(stop);
  start();
  return {
    clock,
    logged,
    sent,
    store,
    start,
    stop,
    wake: () => outbox.wake(),
    add(...ids: string[]) {
      for (const id of ids) store.rows.push(waiting(id));
      outbox.wake();
    },
    row: (id: string) => store.rows.find((row) => row.id === id),
    ...createTurns(clock),
  };
}

function waiting(id: string, change: Partial<Row> = {}): Row {
  return {
    id,
    event: "deploy.success",
    url: "http://a.test/",
    method: "POST",
    headers: {},
    body: "{}",
    attempts: 0,
    nextAt: testEpoch,
    status: "waiting",
    ...change,
  };
}

describe("a call", () => {
  test("is sent as soon as it is there, and once when it is delivered", async () => {
    const { add, advance, sent, row } = scene(() => delivered);
    add("a");
    await advance(600_000);
    expect(sent).toEqual([{ id: "a", afterMs: 0 }]);
    expect(row("a")).toMatchObject({ status: "delivered", attempts: 1, lastResult: "status 204" });
  });

  test("is tried three times, after 0, 1 and 5 more seconds, then dropped", async () => {
    const { add, advance, sent, row } = scene(() => failed);
    add("a");
    await advance(600_000);
    expect(sent.map(({ afterMs }) => afterMs)).toEqual([0, 1_000, 6_000]);
    expect(row("a")).toMatchObject({ status: "dropped", attempts: 3, lastResult: "status 503" });
  });

  test("that is delivered at the second try is not sent again", async () => {
    const { add, advance, sent, row } = scene((_, attempt) => (attempt === 0 ? failed : delivered));
    add("a");
    await advance(600_000);
    expect(sent).toHaveLength(2);
    expect(row("a")).toMatchObject({ status: "delivered", attempts: 2 });
  });

  test("that is refused is dropped at once", async () => {
    const { add, advance, sent, row } = scene(() => ({ outcome: "refused", result: "no public address" }));
    add("a");
    await advance(600_000);
    expect(sent).toHaveLength(1);
    expect(row("a")).toMatchObject({ status: "dropped", attempts: 1 });
  });

  test("that is held back is sent when it is due", async () => {
    const { advance, sent } = scene(() => delivered, [waiting("a", { nextAt: testEpoch + 30_000 })]);
    await advance(29_999);
    expect(sent).toEqual([]);
    await advance(1);
    expect(sent).toHaveLength(1);
  });

  test("that a clock put into the far future is sent now that the clock is right again", async () => {
    const { advance, sent } = scene(() => delivered, [waiting("a", { nextAt: testEpoch + 3_600_000 })]);
    await advance(0);
    expect(sent).toHaveLength(1);
  });
});

test("a call that is over is dropped without an attempt, and one that is kept is tried with the last pause for ever", async () => {
  const more = {
    over: ({ id, attempts }: Row) => (id === "late" || attempts > 9 ? "over" : undefined),
    isKept: ({ id }: Row) => id === "kept",
  };
  const { advance, sent, row } = scene(() => failed, [waiting("late"), waiting("kept")], more);
  await advance(600_000);
  expect(row("late")).toMatchObject({ status: "dropped", attempts: 0, lastResult: "over" });
  expect(row("kept")).toMatchObject({ status: "dropped", attempts: 10, lastResult: "over" });
  expect(sent.map(({ afterMs }) => afterMs)).toEqual([0, 1, 6, 11, 16, 21, 26, 31, 36, 41].map((s) => s * 1_000));
});

describe("many calls", () => {
  test("no more than the limit are under way, and a slow receiver holds up only its own place", async () => {
    const slow = Promise.withResolvers<Attempt>();
    let underWay = 0;
    let most = 0;
    const { add, advance, sent, row } = scene(async ({ id }) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      const answer = id === "slow" ? await slow.promise : delivered;
      underWay -= 1;
      return answer;
    });
    add("slow", "a", "b", "c", "d");
    await advance(60_000);
    expect(most).toBe(2);
    expect(sent.map(({ id }) => id)).toEqual(["slow", "a", "b", "c", "d"]);
    expect(row("slow")?.status).toBe("waiting");
    slow.resolve(delivered);
    await advance(0);
    expect(row("slow")?.status).toBe("delivered");
  });
});

describe("an end in the middle", () => {
  test("nothing is recorded for what was under way; the next start sends it again", async () => {
    let hang = true;
    const { add, quiet, stop, start, advance, sent, row } = scene(() =>
      hang ? new Promise<Attempt>(() => undefined) : delivered,
    );
    add("a");
    await quiet();
    await stop();
    expect(row("a")).toMatchObject({ status: "waiting", attempts: 0 });
    hang = false;
    start();
    await advance(0);
    expect(sent.map(({ id }) => id)).toEqual(["a", "a"]);
    expect(row("a")?.status).toBe("delivered");
  });

  test("what was tried before keeps its count and its pause", async () => {
    const { advance, sent, row } = scene(
      () => failed,
      [waiting("a", { attempts: 2, nextAt: testEpoch + 4_000 }), waiting("b", { attempts: 1 })],
    );
    await advance(60_000);
    expect(sent).toEqual([
      { id: "b", afterMs: 0 },
      { id: "a", afterMs: 4_000 },
      { id: "b", afterMs: 5_000 },
    ]);
    expect([row("a")?.attempts, row("b")?.attempts]).toEqual([3, 3]);
  });
});

test("a store that cannot be written is not hammered, and is told in the log without what was sent", async () => {
  const { add, advance, sent, store, logged, row } = scene(() => delivered);
  store.failing = true;
  add("a");
  await advance(4_999);
  expect(sent).toHaveLength(1);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain('"delivery":"a"');
  expect(logged[0]).not.toContain("http://a.test");
  store.failing = false;
  await advance(1);
  expect(sent).toHaveLength(2);
  expect(row("a")?.status).toBe("delivered");
});

test("nothing to do takes no time: no timer runs", async () => {
  const { clock, quiet, add, advance } = scene(() => delivered);
  await quiet();
  expect(clock.sleepers).toBe(0);
  add("a");
  await advance(0);
  expect(clock.sleepers).toBe(0);
});
