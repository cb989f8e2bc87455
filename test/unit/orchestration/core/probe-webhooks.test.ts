import { describe, expect, test } from "bun:test";
import {
  decideProbeCall,
  type ProbeCall,
  sameTransitionMs,
} from "../../../../src/orchestration/core/probe-webhooks.ts";

const now = 1_000_000;
const failure = "failure";
const recovery = "recovery";

const sent = (transition: ProbeCall["transition"], agoMs: number, id: string = transition): ProbeCall => ({
  id,
  transition,
  status: "delivered",
  attempts: 1,
  nextAt: now - agoMs,
});

const held = (transition: ProbeCall["transition"], id = "held"): ProbeCall => ({
  id,
  transition,
  status: "waiting",
  attempts: 0,
  nextAt: now + 5_000,
});

const overBeforeSent: ProbeCall = { ...sent(failure, 10), status: "dropped", attempts: 0 };

describe("what is told", () => {
  test("the first failure, at once", () => {
    expect(decideProbeCall([], failure, now)).toEqual({ sendAt: now, cancel: [] });
  });

  test("a recovery only after a failure", () => {
    expect(decideProbeCall([], recovery, now).sendAt).toBeUndefined();
    expect(decideProbeCall([overBeforeSent], recovery, now).sendAt).toBeUndefined();
    expect(decideProbeCall([sent(failure, 500)], recovery, now).sendAt).toBe(now);
  });

  test("a failure that could not be delivered was told all the same", () => {
    const dropped: ProbeCall = { ...sent(failure, 500), status: "dropped", attempts: 3 };
    expect(decideProbeCall([dropped], recovery, now).sendAt).toBe(now);
  });

  test("nothing that is known already, however long ago", () => {
    expect(decideProbeCall([sent(failure, 3_600_000)], failure, now).sendAt).toBeUndefined();
    expect(decideProbeCall([sent(recovery, 10), sent(failure, 20)], recovery, now).sendAt).toBeUndefined();
    expect(decideProbeCall([held(failure)], failure, now)).toEqual({ sendAt: undefined, cancel: [] });
  });

  test("the same transition once a minute: the next one waits for the rest of it", () => {
    const calls = [sent(recovery, 5_000), sent(failure, 20_000)];
    expect(decideProbeCall(calls, failure, now).sendAt).toBe(now - 20_000 + sameTransitionMs);
    expect(decideProbeCall([sent(recovery, 5_000), sent(failure, 60_000)], failure, now).sendAt).toBe(now);
  });

  test("what comes and goes within the minute not at all", () => {
    const calls = [held(failure), sent(recovery, 5_000), sent(failure, 20_000, "old")];
    expect(decideProbeCall(calls, recovery, now)).toEqual({ sendAt: undefined, cancel: ["held"] });
  });

  test("a held recovery is called off when it fails again: the receiver still believes the failure", () => {
    const calls = [held(recovery), sent(failure, 10_000), sent(recovery, 30_000)];
    expect(decideProbeCall(calls, failure, now)).toEqual({ sendAt: undefined, cancel: ["held"] });
  });

  test("every webhook of a held transition is called off", () => {
    const calls = [held(failure, "b"), held(failure, "a"), sent(recovery, 5_000), sent(failure, 20_000)];
    expect(decideProbeCall(calls, recovery, now).cancel).toEqual(["b", "a"]);
  });

  test("a clock that jumped back holds nothing for longer than the minute", () => {
    const calls = [sent(recovery, -3_600_000), sent(failure, -3_600_000)];
    expect(decideProbeCall(calls, failure, now).sendAt).toBe(now + sameTransitionMs);
  });
});
