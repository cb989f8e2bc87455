import { describe, expect, test } from "bun:test";
import { decideSleep, type SleepInput, sleepPolicy } from "../../../../src/orchestration/core/sleep.ts";

describe("the policy of a spec", () => {
  test.each([
    ["without wake there is none", { idle_after: "5m" }, undefined],
    ["wake: false", { wake: false }, undefined],
    ["a word in place of a switch", { wake: "yes" }, undefined],
    ["its default", { wake: true }, { idleMs: 900_000, idleText: "15m" }],
    ["its own time", { wake: true, idle_after: "90s" }, { idleMs: 90_000, idleText: "90s" }],
    ["never by itself", { wake: true, idle_after: "0" }, { idleMs: undefined, idleText: "0" }],
    ["a time of another version", { wake: true, idle_after: "soon" }, { idleMs: 900_000, idleText: "15m" }],
  ])("%s", (_, spec, policy) => expect(sleepPolicy(spec)).toEqual(policy));
});

describe("a look", () => {
  const idle: SleepInput = {
    before: { mark: "3/70", usedAt: 1_000 },
    use: { mark: "3/70", active: 0 },
    isSettled: true,
    idleMs: 10_000,
    now: 5_000,
  };
  const restarts = { seen: { usedAt: 5_000 }, leftMs: 10_000 };

  test("counts on from the last use", () => {
    expect(decideSleep(idle)).toEqual({ seen: { mark: "3/70", usedAt: 1_000 }, leftMs: 6_000 });
    expect(decideSleep({ ...idle, now: 11_000 }).leftMs).toBe(0);
  });

  test.each<[string, Partial<SleepInput>]>([
    ["the first one", { before: undefined }],
    ["a request came and went", { use: { mark: "4/90", active: 0 } }],
    ["a WebSocket is open", { use: { mark: "3/70", active: 1 } }],
    ["it is not ready", { isSettled: false }],
    ["nothing is known", { use: undefined }],
  ])("begins anew when %s", (_, change) => expect(decideSleep({ ...idle, ...change })).toMatchObject(restarts));

  test("after which the clock was set back is not longer for it", () => {
    expect(decideSleep({ ...idle, before: { mark: "3/70", usedAt: 90_000 } }).leftMs).toBe(10_000);
  });
});
