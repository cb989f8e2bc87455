import { expect, test } from "bun:test";
import { createHeartbeat } from "../../../../../src/orchestration/controller/state/heartbeat.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";
import { createTurns } from "../../../../support/turns.ts";

const everyMs = 5_000;
const silenceMs = 10_000;

/** An engine that answers after so many milliseconds, the last figure for all further pings. */
function heartOf(...answerMs: number[]) {
  const clock = createFakeClock();
  let pings = 0;
  const heart = createHeartbeat({
    clock,
    everyMs,
    silenceMs,
    ping: (signal) => clock.sleep(answerMs[Math.min(pings++, answerMs.length - 1)] ?? 0, signal),
  });
  const { quiet: turns, advance: pass } = createTurns(clock);
  return { heart, turns, pass, pings: () => pings };
}

test("an engine that answers at once is pinged once in the interval", async () => {
  const { heart, turns, pass, pings } = heartOf(0);
  let over = false;
  void heart.follow(new AbortController().signal).then(() => {
    over = true;
  });
  await turns();
  await pass(60_000);
  expect(over).toBe(false);
  expect(pings()).toBe(12);
});

test.each([3_000, 9_900])("an engine that takes %d ms for each ping is slow, and lives", async (ms) => {
  const { heart, turns, pass } = heartOf(ms);
  let over = false;
  void heart.follow(new AbortController().signal).then(() => {
    over = true;
  });
  await turns();
  await pass(300_000);
  expect(over).toBe(false);
});

test("an engine that stops answering is silent after the interval and the limit, and says for how long", async () => {
  const { heart, turns, pass } = heartOf(0, Number.MAX_SAFE_INTEGER);
  let over = false;
  expect(await heart.answers(new AbortController().signal)).toBe(true);
  void heart.follow(new AbortController().signal).then(() => {
    over = true;
  });
  await turns();
  await pass(everyMs + silenceMs - 100);
  expect(over).toBe(false);
  await pass(100);
  expect(over).toBe(true);
  await pass(30_000);
  expect(heart.silentMs()).toBe(everyMs + silenceMs + 30_000);
});

test("a server that was stopped itself for an hour reads the answer that waits before it counts", async () => {
  const clock = createFakeClock();
  const { quiet: turns } = createTurns(clock);
  const answer = Promise.withResolvers<void>();
  const heart = createHeartbeat({ clock, everyMs, silenceMs, ping: () => answer.promise });
  const answered = heart.answers(new AbortController().signal);
  await turns();
  // Of what fell due meanwhile, timers come first, and then what has arrived on connections.
  clock.moveTo(clock.steady() + 3_600_000);
  await turns();
  answer.resolve();
  expect(await answered).toBe(true);
});

test("an end waits for no answer", async () => {
  const { heart, turns } = heartOf(Number.MAX_SAFE_INTEGER);
  const stop = new AbortController();
  const following = heart.follow(stop.signal);
  await turns();
  stop.abort();
  await following;
});

test("an engine that cannot be reached fails as the ping does", async () => {
  const clock = createFakeClock();
  const heart = createHeartbeat({ clock, everyMs, silenceMs, ping: () => Promise.reject(new Error("no socket")) });
  expect(heart.answers(new AbortController().signal)).rejects.toThrow("no socket");
});
