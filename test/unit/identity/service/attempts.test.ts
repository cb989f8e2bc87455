import { beforeEach, describe, expect, test } from "bun:test";
import { identityLimits } from "../../../../src/config/config.ts";
import { createRateLimits, type RateLimits } from "../../../../src/identity/service/rate-limits.ts";
import { createFakeClock, type FakeClock } from "../../../support/fake-clock.ts";

type Bucket = keyof typeof identityLimits.rates.rates;

let clock: FakeClock;
let rates: RateLimits<Bucket>;

beforeEach(() => {
  clock = createFakeClock();
  rates = createRateLimits({ clock, limits: { ...identityLimits.rates, attemptsWaitingMax: 50 } });
});

const ip = "203.0.113.7";
const office = { client: { bucket: "sign_in", ip } } as const;

/** Attempts that end when told to. */
function held() {
  const open: ((isFailure: boolean) => void)[] = [];
  const begin = (by: Parameters<typeof rates.attempt>[0] = office) =>
    rates.attempt(by, async () => {
      const isFailure = await new Promise<boolean>((resolve) => open.push(resolve));
      return { result: isFailure ? "wrong" : "right", isFailure };
    });
  return { open, begin };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};
const attempt = (isFailure: boolean, by: Parameters<typeof rates.attempt>[0] = office) =>
  rates.attempt(by, () => Promise.resolve({ result: isFailure, isFailure }));

describe("attempts", () => {
  test("only failures are counted, and the eleventh is not tried", async () => {
    for (let n = 0; n < 1_000; n++) expect(await attempt(false)).toEqual({ result: false });
    for (let n = 0; n < 10; n++) expect(await attempt(true)).toEqual({ result: true });
    expect(await attempt(true)).toEqual({ late: 60 });
    expect(await attempt(false)).toEqual({ late: 60 });
    expect(await attempt(false, { client: { bucket: "sign_in", ip: "203.0.113.8" } })).toEqual({ result: false });
  });

  test("those beyond the places wait for others that are under way, in their order", async () => {
    const { open, begin } = held();
    const all = Array.from({ length: 30 }, () => begin());
    await turns();
    expect(open).toHaveLength(10);
    for (let n = 0; n < 30; n++) {
      open[n]?.(false);
      await turns();
    }
    expect(await Promise.all(all)).toEqual(Array(30).fill({ result: "right" }));
  });

  test("wrong ones at once are no more than wrong ones in a row", async () => {
    const { open, begin } = held();
    const all = Array.from({ length: 40 }, () => begin());
    for (let n = 0; n < 40; n++) {
      await turns();
      open[n]?.(true);
    }
    const outcomes = await Promise.all(all);
    expect(open).toHaveLength(10);
    expect(outcomes.filter((one) => "late" in one)).toHaveLength(30);
  });

  test("what throws is no failure, and lets the next one in", async () => {
    for (let n = 0; n < 50; n++) {
      const failed = rates.attempt(office, () => Promise.reject(new Error("busy")));
      await expect(failed).rejects.toThrow("busy");
    }
    expect(await attempt(false)).toEqual({ result: false });
  });

  test("a client and an account count both; one that is full leaves the other as it was", async () => {
    const both = { ...office, account: { bucket: "sign_in_account", key: "ana" } } as const;
    for (let n = 0; n < 10; n++) await attempt(true, { account: both.account });
    for (let n = 0; n < 20; n++) expect(await attempt(true, both)).toEqual({ late: 60 });
    expect(await attempt(true)).toEqual({ result: true });
  });

  test("no more wait than there is room for", async () => {
    const { open, begin } = held();
    const all = Array.from({ length: 60 }, () => begin());
    await turns();
    await expect(begin()).rejects.toThrow("too many sign-ins of this client");
    for (let n = 0; n < 60; n++) {
      open[n]?.(false);
      await turns();
    }
    expect(await Promise.all(all)).toHaveLength(60);
  });

  test("failures of many networks of one /48 are counted together, and its right ones go on", async () => {
    const by = (net: number) => ({ client: { bucket: "sign_in", ip: `2001:db8:1:${net}::1` } }) as const;
    const { open, begin } = held();
    const all = Array.from({ length: 200 }, (_, n) => begin(by(n)));
    for (let n = 0; n < 200; n++) {
      await turns();
      open[n]?.(false);
    }
    expect((await Promise.all(all)).every((one) => "result" in one)).toBe(true);
    for (let n = 0; n < 160; n++) expect(await attempt(true, by(n))).toEqual({ result: true });
    expect(await attempt(true, by(999))).toEqual({ late: 60 });
  });
});
