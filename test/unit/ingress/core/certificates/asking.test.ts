import { expect, test } from "bun:test";
import fc from "fast-check";
import { type AskingLimits, createAsking } from "../../../../../src/ingress/core/certificates/asking.ts";

const limits: AskingLimits = {
  perMinute: 5,
  perClientPerMinute: 2,
  clientsMax: 4,
  refusedMs: 60_000,
  failedMs: 10_000,
  refusedMax: 3,
};

test("a client has its share of a minute, and all clients together have theirs", () => {
  const asking = createAsking(limits);
  const take = (client: string, now = 0) => asking.take(client, now);
  expect([take("192.0.2.1"), take("192.0.2.1"), take("192.0.2.1")]).toEqual([true, true, false]);
  expect([take("192.0.2.2"), take("192.0.2.2"), take("192.0.2.3"), take("192.0.2.4")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(take("192.0.2.1", 60_000)).toBe(true);
});

test("a /64 network of IPv6 is one client, in every spelling", () => {
  const asking = createAsking(limits);
  expect(asking.take("2001:db8:0:0:1::1", 0)).toBe(true);
  expect(asking.take("2001:db8::7", 0)).toBe(true);
  expect(asking.take("2001:db8:0:0:ffff:1:2:3", 0)).toBe(false);
  expect(asking.take("2001:db8:0:1::1", 0)).toBe(true);
});

test("a refused name is refused for a time, one without an answer for a shorter time", () => {
  const asking = createAsking(limits);
  asking.refused("no.test", 0);
  asking.failed("late.test", 0);
  const at = (now: number) => ["no.test", "late.test", "new.test"].map((name) => asking.isRefused(name, now));
  expect([at(9_999), at(10_000), at(60_000)]).toEqual([
    [true, true, false],
    [true, false, false],
    [false, false, false],
  ]);
});

test("whatever clients send, memory and questions stay within their limits", () => {
  const step = fc.record({
    client: fc.oneof(fc.ipV4(), fc.ipV6()),
    name: fc.domain(),
    waitMs: fc.integer({ min: 0, max: 30_000 }),
    answer: fc.constantFrom("refused" as const, "failed" as const),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const asking = createAsking(limits);
      const asked = new Map<number, number>();
      let now = 0;
      for (const { client, name, waitMs, answer } of steps) {
        now += waitMs;
        if (!asking.isRefused(name, now) && asking.take(client, now)) {
          const minute = Math.floor(now / 60_000);
          asked.set(minute, (asked.get(minute) ?? 0) + 1);
          asking[answer](name, now);
          expect(asking.isRefused(name, now)).toBe(true);
        }
        const { names, clients } = asking.size();
        expect(names).toBeLessThanOrEqual(limits.refusedMax);
        expect(clients).toBeLessThanOrEqual(limits.clientsMax);
      }
      for (const count of asked.values()) expect(count).toBeLessThanOrEqual(limits.perMinute);
    }),
  );
});
