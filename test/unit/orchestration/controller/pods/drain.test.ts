import { beforeEach, describe, expect, test } from "bun:test";
import type { Context } from "../../../../../src/orchestration/controller/state/context.ts";
import { drain } from "../../../../../src/orchestration/controller/pods/drain.ts";
import type { Pod } from "../../../../../src/orchestration/controller/state/pod.ts";
import { createFakeClock, type FakeClock } from "../../../../support/fake-clock.ts";

type Seen = { listening: boolean; established: number } | undefined;

let clock: FakeClock;
let closing: AbortController;
let seen: () => Seen;
let state: Pod["state"];
beforeEach(() => {
  clock = createFakeClock();
  closing = new AbortController();
  state = "running";
  seen = () => ({ listening: true, established: 0 });
});

/** Drains with time moving by itself; how long it took, and whether the pod may be stopped. */
async function drained(drainMs: number, until = 120_000) {
  const pod = { id: "c1" } as Pod;
  const engine = { connections: async () => seen(), inspect: async () => ({ state }) };
  const context = { clock, engine, closing: closing.signal } as unknown as Context;
  const begun = clock.steady();
  let outcome: boolean | undefined;
  const draining = drain(context, pod, { drainMs, giveUp: context.closing }).then((stop) => {
    outcome = stop;
  });
  while (outcome === undefined && clock.steady() - begun < until) {
    await new Promise((resolve) => setImmediate(resolve));
    if (outcome === undefined) clock.moveTo(clock.nextDue() ?? clock.steady());
  }
  await draining;
  return { stop: outcome, ms: clock.steady() - begun };
}

describe("a pod that is taken out of service", () => {
  test("goes at once where it listens on nothing", async () => {
    seen = () => ({ listening: false, established: 0 });
    expect(await drained(30_000)).toEqual({ stop: true, ms: 0 });
  });

  test("stays for a notice, so that those who follow readiness see it, even with no connection open", async () => {
    expect(await drained(30_000)).toEqual({ stop: true, ms: 1_500 });
  });

  test("stays until its last connection has ended", async () => {
    const begun = clock.steady();
    seen = () => ({ listening: true, established: clock.steady() - begun < 7_000 ? 3 : 0 });
    expect(await drained(30_000)).toEqual({ stop: true, ms: 8_000 });
  });

  test("stays for what the kernel of a client tries again", async () => {
    const begun = clock.steady();
    const isBusy = (at: number) => at < 2_000 || (at >= 3_000 && at < 4_000);
    seen = () => ({ listening: true, established: isBusy(clock.steady() - begun) ? 1 : 0 });
    expect(await drained(30_000)).toEqual({ stop: true, ms: 5_000 });
  });

  test("stays no longer than its time, whatever is open", async () => {
    seen = () => ({ listening: true, established: 1 });
    expect(await drained(8_000)).toEqual({ stop: true, ms: 8_000 });
    expect(await drained(1_000)).toEqual({ stop: true, ms: 1_000 });
    expect(await drained(0)).toEqual({ stop: true, ms: 0 });
  });

  test("stays for the notice where connections cannot be seen, or asking fails", async () => {
    seen = () => undefined;
    expect(await drained(30_000)).toEqual({ stop: true, ms: 1_500 });
    seen = () => {
      throw new Error("no such process");
    };
    expect(await drained(30_000)).toEqual({ stop: true, ms: 1_500 });
  });

  test("goes at once when it has ended meanwhile", async () => {
    seen = () => undefined;
    state = "exited";
    expect(await drained(30_000)).toEqual({ stop: true, ms: 0 });
  });

  test("is not stopped by a server that stops itself", async () => {
    seen = () => {
      if (clock.steady() > 0) closing.abort();
      return { listening: true, established: 1 };
    };
    expect(await drained(30_000)).toEqual({ stop: false, ms: 0 });
  });

  test.each([-3_600_000, 3_600_000])("takes its time though the clock is set by %d ms", async (jump) => {
    const begun = clock.steady();
    let jumped = false;
    seen = () => {
      if (!jumped) clock.jump(jump);
      jumped = true;
      return { listening: true, established: clock.steady() - begun < 20_000 ? 1 : 0 };
    };
    expect(await drained(8_000)).toEqual({ stop: true, ms: 8_000 });
  });
});
