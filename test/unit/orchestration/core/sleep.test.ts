import { describe, expect, test } from "bun:test";
import { decideSleep, type SleepInput } from "../../../../src/orchestration/core/sleep.ts";

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
