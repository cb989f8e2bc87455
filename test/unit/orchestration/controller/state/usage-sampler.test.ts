import { expect, test } from "bun:test";
import {
  createUsageSampler,
  type SamplerOptions,
} from "../../../../../src/orchestration/controller/state/usage-sampler.ts";
import type { SteadyClock } from "../../../../../src/base/words/clock.ts";
import type { PodUsage } from "../../../../../src/orchestration/engine/pod.ts";

const usage = (id: string, cpuMs: number, at: number): PodUsage => ({
  node: "local",
  id,
  name: id,
  identity: undefined,
  cpuNanos: cpuMs * 1e6,
  memoryBytes: 1,
  memoryLimitBytes: 2,
  pids: 1,
  at,
});

/** A clock that moves when somebody sleeps, and containers that use half a core each. */
function scene(overrides: Partial<SamplerOptions> = {}) {
  // After the first two readings it is a whole second, on which sleeps end.
  let now = 999_750;
  const slept: number[] = [];
  const running = new Map<string, number>([["a", now]]);
  const clock: SteadyClock = {
    steady: () => now,
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
  };
  const errors: unknown[] = [];
  let reads = 0;
  const read = async () => {
    reads += 1;
    return [...running].map(([id, since]) => usage(id, (now - since) / 2, now));
  };
  const sampler = createUsageSampler({
    read,
    clock,
    intervalMs: 15_000,
    cores: 4,
    onError: (error) => errors.push(error),
    ...overrides,
  });
  /** Runs `rounds` intervals. */
  const run = async (rounds: number) => {
    const stop = new AbortController();
    const sleeping = clock.sleep;
    let left = rounds;
    clock.sleep = async (ms, signal) => {
      await sleeping(ms);
      if (signal === undefined) return;
      left -= 1;
      if (left === 0) stop.abort();
    };
    await sampler.run(stop.signal);
    clock.sleep = sleeping;
  };
  const percents = () =>
    Object.fromEntries([...(sampler.latest()?.pods ?? [])].map(([id, { cpuPercent }]) => [id, cpuPercent]));
  return { sampler, clock, running, slept, errors, run, percents, reads: () => reads, now: () => now };
}

test("the first snapshot comes from two readings shortly after another, later ones from one each", async () => {
  const it = scene();
  expect(it.sampler.latest()).toBeUndefined();
  await it.run(1);
  expect(it.percents()).toEqual({ a: 50 });
  expect([it.reads(), it.slept]).toEqual([2, [250, 15_000]]);
  await it.run(1);
  expect(it.percents()).toEqual({ a: 50 });
  expect(it.reads()).toBe(3);
});

test("a container that started in between is measured from its start on; one that ended is gone", async () => {
  const it = scene();
  await it.run(1);
  it.running.delete("a");
  it.running.set("b", it.now() - 7_500);
  await it.run(1);
  expect(it.percents()).toEqual({ b: 25 });
});

test("one that used more than there is was only overlooked before: it shows nothing rather than nonsense", async () => {
  const it = scene();
  await it.run(1);
  it.running.set("old", it.now() - 1_000_000_000);
  await it.run(1);
  expect(it.percents()).toEqual({ a: 50, old: 0 });
});

test("a reading that fails keeps the snapshot before, and is told", async () => {
  let broken = false;
  const it = scene({
    read: async () => {
      if (broken) throw new Error("engine down");
      return [usage("a", 1, 1)];
    },
  });
  await it.run(1);
  const before = it.sampler.latest();
  broken = true;
  await it.run(2);
  expect(it.sampler.latest()).toBe(before);
  expect(it.errors).toHaveLength(2);
  expect(before).toBeDefined();
});

test("without an interval nothing runs", async () => {
  const it = scene({ intervalMs: 0 });
  await it.sampler.run(new AbortController().signal);
  expect([it.sampler.enabled, it.reads()]).toEqual([false, 0]);
});

test("live: measured against the newest reading that is old enough, shared within a second", async () => {
  const it = scene();
  await it.run(1);
  const first = await it.sampler.live();
  expect(first.pods.get("a")?.cpuPercent).toBe(50);
  expect(first.at).toBe(it.now());
  const reads = it.reads();
  await it.clock.sleep(900);
  expect(await it.sampler.live()).toBe(first);
  await it.clock.sleep(200);
  const [second, same] = await Promise.all([it.sampler.live(), it.sampler.live()]);
  expect(second).toBe(same);
  expect(second).not.toBe(first);
  expect(it.reads()).toBe(reads + 1);
});

test("live before any reading takes two", async () => {
  const it = scene();
  expect((await it.sampler.live()).pods.get("a")?.cpuPercent).toBe(50);
  expect([it.reads(), it.slept]).toEqual([2, [250]]);
});

test("live leaves the collector's own series alone", async () => {
  const it = scene();
  await it.run(1);
  const before = it.sampler.latest();
  await it.sampler.live();
  expect(it.sampler.latest()).toBe(before);
});
