import { expect, test } from "bun:test";
import type { SteadyClock } from "../../../../../src/base/words/clock.ts";
import type { InspectedPod } from "../../../../../src/orchestration/engine/pod.ts";
import { addCrashes, endOfRun, fill, type Pod } from "../../../../../src/orchestration/controller/state/pod.ts";

let now = 0;
const clock = { now: () => now, steady: () => now } as SteadyClock;
const newPod = () =>
  ({
    ...{ state: "created", startedAt: undefined, finishedAt: undefined, upSince: undefined, inherited: false },
    ...{ restarts: 0, earlierRestarts: 0, crashes: { count: 0, since: 0 } },
  }) as Pod;
const detail = (state: string, startedAt: number, restartCount: number) =>
  ({
    state,
    startedAt,
    restartCount,
    finishedAt: startedAt + 10,
    exitCode: 4,
    ports: [],
  }) as unknown as InspectedPod;

/** The engine tells that it ended, and is asked about it while it waits; then it is started again. */
function crash(pod: Pod, { run, pause }: { run: number; pause: number }): void {
  const started = now;
  const before = pod.restarts;
  fill(pod, detail("running", started, before), clock);
  now += run;
  endOfRun(pod, now);
  pod.upSince = undefined;
  fill(pod, detail("restarting", started, before), clock);
  now += pause;
  fill(pod, detail("running", now, before + 1), clock);
}

test("the pause before a container is started again is no calm run: crashes go on counting", () => {
  const pod = newPod();
  for (const pause of [1_000, 30_000, 60_000, 60_000, 60_000]) crash(pod, { run: 10, pause });
  expect(pod.crashes.count).toBe(5);
});

test("after a calm run, what comes is another story", () => {
  const pod = newPod();
  for (const pause of [1_000, 1_000]) crash(pod, { run: 10, pause });
  crash(pod, { run: 60_000, pause: 1_000 });
  expect(pod.crashes.count).toBe(1);
});

test("one that waits does not run, and what we start again later counts on", () => {
  const pod = newPod();
  crash(pod, { run: 10, pause: 1_000 });
  endOfRun(pod, now + 10);
  pod.upSince = undefined;
  fill(pod, detail("exited", now, 1), clock);
  expect(pod.upSince).toBeUndefined();
  now += 300_000;
  addCrashes(pod, 1, now);
  expect(pod.crashes.count).toBe(2);
});
