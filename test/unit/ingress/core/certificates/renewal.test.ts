import { expect, test } from "bun:test";
import fc from "fast-check";
import { dueAt, pauseAfter, renewalTime } from "../../../../../src/ingress/core/certificates/renewal.ts";

const day = 86_400_000;
const ninety = { notBefore: 0, notAfter: 90 * day };

test("a certificate is renewed at two thirds of its life at the latest", () => {
  expect(renewalTime(ninety, 0)).toBe(60 * day);
  expect(renewalTime(ninety, 1)).toBe(55.5 * day);
  expect(renewalTime({ notBefore: 0, notAfter: 6 * day }, 0)).toBe(4 * day);
});

test("the window of the CA wins, also when it lies in the past", () => {
  expect(renewalTime(ninety, 0.5, { start: 10 * day, end: 20 * day })).toBe(15 * day);
  expect(renewalTime(ninety, 0.5, { start: -3 * day, end: -1 * day })).toBe(-2 * day);
});

test("a window that makes no sense is ignored, and none lets the certificate expire", () => {
  expect(renewalTime(ninety, 0, { start: 20 * day, end: 10 * day })).toBe(60 * day);
  expect(renewalTime(ninety, 1, { start: 80 * day, end: 400 * day })).toBe(90 * day);
});

test("a renewal lies between the beginning and two thirds of the life, for any certificate", () => {
  const validity = fc.tuple(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 1, max: 4e11 }));
  fc.assert(
    fc.property(validity, fc.double({ min: 0, max: 1, noNaN: true }), ([notBefore, lifeMs], random) => {
      const at = renewalTime({ notBefore, notAfter: notBefore + lifeMs }, random);
      expect(at).toBeGreaterThanOrEqual(notBefore);
      expect(at).toBeLessThanOrEqual(Math.round(notBefore + (lifeMs * 2) / 3));
    }),
  );
});

test("the pause doubles up to its limit, and is never shorter than the CA asks", () => {
  const pause = (failures: number, more = {}) =>
    pauseAfter({ failures, firstMs: 1_000, maxMs: 60_000, random: 0, ...more });
  expect([1, 2, 3, 7, 2_000].map((failures) => pause(failures))).toEqual([1_000, 2_000, 4_000, 60_000, 60_000]);
  expect(pause(1, { random: 1 })).toBe(750);
  expect(pause(1, { retryAfterMs: 90_000 })).toBe(90_000);
});

test("a name without a certificate is due at once, unless a failure was just before", () => {
  const input = { now: 1_000, held: undefined, attempt: undefined };
  expect(dueAt(input)).toBe(1_000);
  expect(dueAt({ ...input, attempt: { failedAt: 900, nextTryAt: 1_050 } })).toBe(1_050);
});

test("a pause that was written before the clock was set back holds up nothing", () => {
  expect(dueAt({ now: 1_000, held: undefined, attempt: { failedAt: 8e15, nextTryAt: 9e15 } })).toBe(1_000);
});

test("a certificate that is not valid yet, because the clock was set back, is due at once", () => {
  const held = { notBefore: 5_000, notAfter: 9_000, renewAt: 8_000 };
  expect(dueAt({ now: 1_000, held, attempt: undefined })).toBe(1_000);
  expect(dueAt({ now: 6_000, held, attempt: undefined })).toBe(8_000);
  expect(dueAt({ now: 6_000, held, attempt: { failedAt: 5_500, nextTryAt: 7_000 } })).toBe(8_000);
});
