import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  budgetMemoryMs,
  type BudgetLimits,
  mayOrder,
  type PlacedOrder,
} from "../../../../../src/ingress/core/certificates/budget.ts";

const hour = 3_600_000;
const limits: BudgetLimits = {
  perName: { most: 2, perMs: 168 * hour },
  perDomain: { most: 3, perMs: 168 * hour },
  perAccount: { most: 5, perMs: 3 * hour },
};
const order = (name: string, at: number, more: Partial<PlacedOrder> = {}): PlacedOrder => ({
  at,
  account: "a",
  name,
  isRenewal: false,
  ...more,
});

test("an order is free while nothing was placed", () => {
  expect(mayOrder(order("x.test", 0), [], limits)).toEqual({ isFree: true });
});

test("the same name waits until its oldest order is out of the period", () => {
  const placed = [order("x.test", 0), order("x.test", hour)];
  expect(mayOrder(order("x.test", 2 * hour), placed, limits)).toEqual({
    isFree: false,
    until: 168 * hour,
    reason: "budget: 2 orders for x.test within 7 days are used up",
  });
  expect(mayOrder(order("x.test", 168 * hour), placed, limits)).toEqual({ isFree: true });
});

test("new names under one domain share an allowance, renewals have none", () => {
  const placed = ["a", "b", "c"].map((label, at) => order(`${label}.example.com`, at));
  expect(mayOrder(order("d.example.com", 10), placed, limits)).toEqual({
    isFree: false,
    until: 168 * hour,
    reason: "budget: 3 orders for new names under example.com within 7 days are used up",
  });
  expect(mayOrder(order("d.example.com", 10, { isRenewal: true }), placed, limits)).toEqual({ isFree: true });
  expect(mayOrder(order("d.example.org", 10), placed, limits)).toEqual({ isFree: true });
});

test("an account has an allowance of its own, which other accounts do not use up", () => {
  const placed = [1, 2, 3, 4, 5].map((n) => order(`x.site${n}.test`, n));
  expect(mayOrder(order("y.test", 10), placed, limits)).toMatchObject({ isFree: false, until: 3 * hour + 1 });
  expect(mayOrder(order("y.test", 10, { account: "b" }), placed, limits)).toEqual({ isFree: true });
});

test("orders that a wrong clock wrote far ahead do not block for ever", () => {
  const placed = [order("x.test", 9e12), order("x.test", 9e12)];
  expect(mayOrder(order("x.test", 0), placed, limits)).toEqual({ isFree: true });
  expect(mayOrder(order("x.test", 0), [order("x.test", hour), order("x.test", hour)], limits)).toMatchObject({
    until: 169 * hour,
  });
});

test("orders on demand have half of the allowances, the others all of them", () => {
  const wide = { ...limits, perDomain: { most: 4, perMs: 168 * hour } };
  const placed = ["a", "b"].map((label, at) => order(`${label}.example.com`, at, { isOnDemand: true }));
  expect(mayOrder(order("c.example.com", 10, { isOnDemand: true }), placed, wide)).toMatchObject({
    isFree: false,
    reason: "budget: 2 orders for names on demand under example.com within 7 days are used up",
  });
  expect(mayOrder(order("c.example.com", 10), placed, wide)).toEqual({ isFree: true });
  expect(mayOrder(order("c.other.com", 10, { isOnDemand: true }), placed, wide)).toMatchObject({
    isFree: false,
    until: 3 * hour,
  });
});

test("whatever is asked, no allowance is ever exceeded", () => {
  const name = fc.constantFrom("a.one.test", "b.one.test", "c.one.test", "d.one.test", "a.two.test", "three.test");
  const request = fc.record({ name, waitMs: fc.integer({ min: 0, max: 20 * hour }), isRenewal: fc.boolean() });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 200 }), (requests) => {
      const placed: PlacedOrder[] = [];
      let now = 0;
      for (const { name, waitMs, isRenewal } of requests) {
        now += waitMs;
        const next = order(name, now, { isRenewal });
        const answer = mayOrder(next, placed, limits);
        if (answer.isFree) placed.push(next);
        else expect(mayOrder({ ...next, at: answer.until }, placed, limits).isFree).toBe(true);
      }
      for (const { at, name } of placed) {
        const since = (perMs: number) => placed.filter((other) => other.at > at - perMs && other.at <= at);
        expect(since(limits.perName.perMs).filter((other) => other.name === name).length).toBeLessThanOrEqual(2);
        expect(since(limits.perAccount.perMs).length).toBeLessThanOrEqual(5);
        const fresh = since(limits.perDomain.perMs).filter(
          (other) => !other.isRenewal && other.name.endsWith("one.test"),
        );
        expect(fresh.length).toBeLessThanOrEqual(3);
      }
    }),
  );
});

test("orders are remembered as long as the longest period", () => {
  expect(budgetMemoryMs(limits)).toBe(168 * hour);
});
