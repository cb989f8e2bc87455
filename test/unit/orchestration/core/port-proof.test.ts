import { describe, expect, test } from "bun:test";
import {
  closedText,
  duePorts,
  type PortOutcome,
  type PortProof,
  portStep,
  portsWakeAt,
  provenAlready,
  startProof,
  unproven,
  withPorts,
} from "../../../../src/orchestration/core/port-proof.ts";

const start = 1_000;
const asked = (proof: PortProof, port: number, change: Partial<PortOutcome> = {}) =>
  portStep(proof, { port, isOpen: false, text: "no", at: start, isRequired: true, ...change });

test("every port is asked at once, and never again once it has answered", () => {
  const fresh = startProof([80, 443], start);
  expect(duePorts(fresh, start)).toEqual([80, 443]);
  expect(unproven(fresh, [80, 443])).toEqual({ port: 80, isAsked: false, text: undefined });
  const one = asked(fresh, 80, { isOpen: true });
  expect(duePorts(one, start + 1e9)).toEqual([443]);
  const both = asked(one, 443, { isOpen: true });
  expect([unproven(both, [80, 443]), portsWakeAt(both, new Set())]).toEqual([undefined, undefined]);
});

test("a closed one is asked in pauses that grow with the time it has taken, longer where nothing waits for it", () => {
  const pauseAfter = (ms: number, isRequired: boolean) => {
    const proof = asked(startProof([80], start), 80, { at: start + ms, isRequired });
    return (portsWakeAt(proof, new Set()) ?? 0) - start - ms;
  };
  expect([0, 100, 4_000, 1e6].map((ms) => pauseAfter(ms, true))).toEqual([100, 100, 1_000, 5_000]);
  expect([0, 4_000, 1e6].map((ms) => pauseAfter(ms, false))).toEqual([100, 1_000, 60_000]);
});

test("a port that is being asked wakes nobody", () => {
  expect(portsWakeAt(startProof([80], start), new Set([80]))).toBeUndefined();
});

test("other ports: what is known of those that stay is kept, and an answer of one that went is dropped", () => {
  const known = asked(startProof([80, 81], start), 80, { isOpen: true });
  const after = withPorts(known, [80, 82], start + 5);
  expect(unproven(after, [80])).toBeUndefined();
  expect(duePorts(after, start + 5)).toEqual([82]);
  expect(asked(after, 81)).toBe(after);
});

test("what has served already is not asked", () => {
  expect(portsWakeAt(provenAlready([80], start), new Set())).toBeUndefined();
  expect(unproven(provenAlready([80], start), [80])).toBeUndefined();
});

describe("what is said of a closed port", () => {
  const local = { address: "127.0.0.1", port: 5000 };
  test.each([
    [[local], "refused; the program listens on 127.0.0.1:5000; berth needs 0.0.0.0:3000"],
    [
      [local, local, { address: "::1", port: 5000 }],
      "refused; the program listens on 127.0.0.1:5000, [::1]:5000; berth needs 0.0.0.0:3000",
    ],
    [[], "nothing listens yet; berth needs 0.0.0.0:3000"],
    [undefined, "refused; berth needs 0.0.0.0:3000"],
  ])("%j", (listeners, text) => {
    expect(closedText(3000, { said: "refused", listeners })).toBe(text);
  });

  test("names three at most", () => {
    const listeners = [1, 2, 3, 4, 5].map((port) => ({ address: "0.0.0.0", port }));
    expect(closedText(80, { said: "refused", listeners })).toContain("0.0.0.0:3, 2 more;");
  });
});
