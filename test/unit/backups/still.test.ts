import { beforeEach, expect, test } from "bun:test";
import type { ContainerRef, Writer } from "../../../src/backups/service/platform.ts";
import { createStill } from "../../../src/backups/service/still.ts";
import { systemClock } from "../../../src/base/words/clock.ts";
import { silentLog } from "../../support/silent-log.ts";

let writers: Writer[];
let recorded: readonly ContainerRef[];
let failures: number;
let calls: string[];

beforeEach(() => {
  writers = [{ node: "local", id: "a", name: "shop-db.0", state: "running" }];
  [recorded, failures, calls] = [[], 0, []];
});

const set = (id: string, state: Writer["state"]) => {
  writers = writers.map((one) => (one.id === id ? { ...one, state } : one));
};
const still = (pauseMaxMs = 10_000) =>
  createStill({
    records: {
      paused: () => [...recorded],
      async setPaused(containers) {
        recorded = containers;
      },
    },
    platform: {
      writers: async () => writers,
      async pause({ id }) {
        calls.push(`pause ${id}, recorded ${recorded.length}`);
        set(id, "paused");
        return true;
      },
      async unpause({ id }) {
        calls.push(`unpause ${id}`);
        if (failures-- > 0) throw new Error("the engine is away");
        set(id, "running");
      },
    },
    ...{ clock: systemClock, log: silentLog, closing: new AbortController().signal },
    limits: { pauseMaxMs, unpauseRetryMs: 1 },
  });
const how = (pauses: number[] = []) => ({
  signal: new AbortController().signal,
  onPaused: (ms: number) => void pauses.push(ms),
});

test("a pause is recorded before it begins, ends with the work, and its time is told", async () => {
  const pauses: number[] = [];
  expect(await still().read("v", how(pauses), async () => writers[0]?.state)).toBe("paused");
  expect([calls, recorded, pauses.length]).toEqual([["pause a, recorded 1", "unpause a"], [], 1]);
});

test("at the limit the app goes on before the reader has ended, and the error names the way out", async () => {
  let stateAtEnd: string | undefined;
  const work = async (signal: AbortSignal) => {
    while (!signal.aborted) await Bun.sleep(1);
    await Bun.sleep(5);
    stateAtEnd = writers[0]?.state;
  };
  await expect(still(5).read("v", how(), work)).rejects.toThrow("give pre and post in the field backup");
  expect([stateAtEnd, recorded]).toEqual(["running", []]);
});

test("what could write meanwhile makes the copy fail: another container, one that goes on, one that keeps restarting", async () => {
  const late = async () => void writers.push({ node: "local", id: "b", name: "other", state: "running" });
  await expect(still().read("v", how(), late)).rejects.toThrow("the container other can write to the volume");
  writers = writers.slice(0, 1);
  await expect(still().read("v", how(), async () => set("a", "running"))).rejects.toThrow("shop-db.0 can write");
  set("a", "restarting");
  await expect(still().read("v", how(), async () => undefined)).rejects.toThrow("it keeps restarting");
});

test("an engine that is away is asked again until the app goes on, also by the next server", async () => {
  failures = 3;
  await still().read("v", how(), async () => undefined);
  while (recorded.length > 0) await Bun.sleep(1);
  expect(calls.filter((call) => call === "unpause a")).toHaveLength(4);
  recorded = [{ node: "local", id: "a" }];
  set("a", "paused");
  failures = 2;
  await still().recover();
  expect([writers[0]?.state, recorded]).toEqual(["running", []]);
});

test("a reader can be given less time", async () => {
  const work = async (signal: AbortSignal) => {
    while (!signal.aborted) await Bun.sleep(1);
  };
  await expect(still().read("v", { ...how(), maxMs: 5 }, work)).rejects.toThrow("was not read within 0.005 s");
  expect(recorded).toEqual([]);
});
