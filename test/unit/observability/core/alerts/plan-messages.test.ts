import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type PlanLimits,
  planMessages,
  type Reportable,
} from "../../../../../src/observability/core/alerts/plan-messages.ts";

const limits: PlanLimits = {
  waitMs: 20_000,
  intervalMs: 300_000,
  stormMessages: 5,
  stormMs: 600_000,
  repeatMs: { critical: 3_600_000, warning: 0, info: 0 },
};

const alert = (id: string, more: Partial<Reportable> = {}): Reportable => ({
  id,
  severity: "critical",
  group: "down",
  state: "firing",
  firedAt: 0,
  sentAt: undefined,
  endSent: false,
  acknowledged: false,
  silenced: false,
  ...more,
});

const plan = (alerts: Reportable[], now: number, groups: [string, number][] = [], recent: number[] = []) =>
  planMessages(alerts, { groups: new Map(groups), recent, now }, limits);

describe("messages", () => {
  test("wait a little for others of the group, and then go out together", () => {
    const both = [alert("a"), alert("b", { firedAt: 15_000 })];
    expect(plan(both, 19_000)).toEqual([]);
    expect(plan(both, 20_000)).toEqual([{ group: "down", fired: ["a", "b"], resolved: [], reminded: [] }]);
  });

  test("of one group keep a pause, another group has its own", () => {
    const late = [alert("b", { firedAt: 60_000 }), alert("c", { firedAt: 60_000, group: "disk" })];
    expect(plan(late, 100_000, [["down", 50_000]]).map(({ group }) => group)).toEqual(["disk"]);
    expect(plan(late, 350_000, [["down", 50_000]])).toHaveLength(2);
  });

  test("report an end only where a message reported the alert", () => {
    const unsent = alert("a", { state: "resolved" });
    const sent = alert("b", { state: "resolved", sentAt: 1 });
    expect(plan([unsent, sent], 100_000)).toEqual([{ group: "down", fired: [], resolved: ["b"], reminded: [] }]);
    expect(plan([{ ...sent, endSent: true }], 100_000)).toEqual([]);
  });

  test("hold back what is silenced, and send it when the silence is over", () => {
    expect(plan([alert("a", { silenced: true })], 100_000)).toEqual([]);
    expect(plan([alert("a")], 200_000)).toHaveLength(1);
  });

  test("remind of what nobody acknowledged", () => {
    const sent = alert("a", { sentAt: 0 });
    expect(plan([sent], 3_599_000)).toEqual([]);
    expect(plan([sent], 3_600_000)).toEqual([{ group: "down", fired: [], resolved: [], reminded: ["a"] }]);
    expect(plan([{ ...sent, acknowledged: true }], 9_000_000)).toEqual([]);
    expect(plan([{ ...sent, severity: "warning" }], 9_000_000)).toEqual([]);
  });

  test("of many groups at once become one", () => {
    const many = Array.from({ length: 8 }, (_, index) => alert(`a${index}`, { group: `g${index}` }));
    const [message, ...more] = plan(many, 30_000);
    expect(more).toEqual([]);
    expect(message?.fired).toHaveLength(8);
    const recent = [30_000, 31_000, 32_000, 33_000, 34_000];
    expect(plan([alert("x", { group: "x" })], 60_000, [], recent)).toEqual([]);
    expect(plan([alert("x", { group: "x" })], 340_000, [], recent)).toHaveLength(1);
  });

  test("go out although the clock was set back", () => {
    expect(plan([alert("a", { firedAt: 500_000 })], 100_000, [["down", 600_000]])).toHaveLength(1);
  });
});

const reportable = fc.record({
  id: fc.uuid(),
  severity: fc.constantFrom("critical" as const, "warning" as const, "info" as const),
  group: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
  state: fc.constantFrom("firing" as const, "resolved" as const),
  firedAt: fc.integer({ min: 0, max: 10_000_000 }),
  sentAt: fc.option(fc.integer({ min: 0, max: 10_000_000 }), { nil: undefined }),
  endSent: fc.boolean(),
  acknowledged: fc.boolean(),
  silenced: fc.boolean(),
});

test("every alert is at most in one message, and none is lost: with time each unsent one is sent", () => {
  fc.assert(
    fc.property(fc.array(reportable, { maxLength: 40 }), (given) => {
      const alerts = given.map((one) => ({ ...one }));
      const groups = new Map<string, number>();
      const recent: number[] = [];
      let now = 10_000_000;
      for (let round = 0; round < 400; round += 1) {
        now += 15_000;
        for (const { group, fired, resolved, reminded } of planMessages(alerts, { groups, recent, now }, limits)) {
          const all = [...fired, ...resolved, ...reminded];
          expect(new Set(all).size).toBe(all.length);
          expect(all.length).toBeGreaterThan(0);
          groups.set(group, now);
          recent.push(now);
          for (const one of alerts) {
            if (fired.includes(one.id)) expect(one.sentAt).toBeUndefined();
            if ([...fired, ...reminded].includes(one.id)) one.sentAt = now;
            if (resolved.includes(one.id)) one.endSent = true;
          }
        }
      }
      for (const one of alerts) {
        if (one.state === "firing" && !one.silenced) expect(one.sentAt).toBeDefined();
        if (one.state === "resolved" && one.sentAt !== undefined) expect(one.endSent).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});
