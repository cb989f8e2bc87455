import { beforeEach, expect, test } from "bun:test";
import { identityLimits } from "../../../../src/config/config.ts";
import { createRateLimits, type RateLimits } from "../../../../src/identity/service/rate-limits.ts";
import { createFakeClock, type FakeClock } from "../../../support/fake-clock.ts";

type Bucket = keyof typeof identityLimits.rates.rates;

let clock: FakeClock;
let rates: RateLimits<Bucket>;

beforeEach(() => {
  clock = createFakeClock();
  rates = createRateLimits({ clock, limits: identityLimits.rates });
});

const takes = (count: number, bucket: Bucket, key: string) =>
  Array.from({ length: count }, () => rates.take(bucket, key));

test("the published counts per minute are let through, one more is told when to come back", () => {
  const published: [Bucket, number][] = [
    ["sign_in", 10],
    ["sign_in_account", 10],
    ["reset_account", 3],
  ];
  for (const [bucket, max] of published) {
    expect(takes(max, bucket, "10.0.0.1")).toEqual(Array(max).fill(undefined));
    expect(rates.take(bucket, "10.0.0.1")).toBe(60);
  }
});

test("places come free one by one, as the calls that took them leave the minute", () => {
  takes(10, "sign_in", "a");
  clock.moveTo(clock.steady() + 30_000);
  takes(10, "sign_in", "b");
  expect(rates.take("sign_in", "a")).toBe(30);
  clock.moveTo(clock.steady() + 29_999);
  expect(rates.take("sign_in", "a")).toBe(1);
  clock.moveTo(clock.steady() + 1);
  expect(rates.take("sign_in", "a")).toBeUndefined();
  expect(rates.take("sign_in", "b")).toBe(30);
});

test("in no window of a minute are there more than the limit, whatever the pace", () => {
  const passed: number[] = [];
  for (let step = 0; step < 500; step++) {
    clock.moveTo(clock.steady() + ((step * 7_919) % 9_000));
    if (rates.take("sign_in", "a") === undefined) passed.push(clock.steady());
  }
  const most = Math.max(...passed.map((at) => passed.filter((other) => other >= at && other < at + 60_000).length));
  expect(most).toBe(10);
});

test("keys and buckets do not count for each other", () => {
  takes(11, "sign_in", "a");
  expect(rates.take("sign_in", "b")).toBeUndefined();
  expect(rates.take("refresh", "a")).toBeUndefined();
});

test("the clock of the machine being set changes nothing", () => {
  takes(10, "sign_in", "a");
  clock.jump(3_600_000);
  expect(rates.take("sign_in", "a")).toBe(60);
});

test("wrong passwords in a row lock softly: each doubles the wait, up to a quarter of an hour", () => {
  const waits = Array.from({ length: 18 }, () => {
    rates.failed("ana@shop.test");
    return rates.locked("ana@shop.test");
  });
  expect(waits.slice(0, 9)).toEqual([undefined, undefined, undefined, undefined, undefined, 1, 2, 4, 8]);
  expect(waits.at(-1)).toBe(900);
  clock.moveTo(clock.steady() + 900_000);
  expect(rates.locked("ana@shop.test")).toBeUndefined();
});

test("a right password ends the lockout", () => {
  for (let n = 0; n < 8; n++) rates.failed("ana@shop.test");
  rates.passed("ana@shop.test");
  expect(rates.locked("ana@shop.test")).toBeUndefined();
  rates.failed("ana@shop.test");
  expect(rates.locked("ana@shop.test")).toBeUndefined();
});

test("the keys remembered are bounded; the one not seen for longest goes", () => {
  const small = createRateLimits({ clock, limits: { ...identityLimits.rates, keysMax: 3 } });
  for (let n = 0; n < 10; n++) small.take("sign_in", "a");
  small.take("sign_in", "b");
  small.take("sign_in", "c");
  expect(small.take("sign_in", "a")).toBe(60);
  small.take("sign_in", "d");
  expect(small.take("sign_in", "a")).toBe(60);
  small.take("sign_in", "e");
  small.take("sign_in", "f");
  small.take("sign_in", "g");
  expect(small.take("sign_in", "a")).toBeUndefined();
});

test("what is given back makes room, unless it has left the count already", () => {
  takes(10, "sign_in", "a");
  rates.giveBack("sign_in", "a", 60_000);
  expect(rates.take("sign_in", "a")).toBe(60);
  rates.giveBack("sign_in", "a", 59_999);
  expect(takes(2, "sign_in", "a")).toEqual([undefined, 60]);
});

test("a client of IPv6 gets its place back in the network around it too", () => {
  const fill = (ip: string, count: number) => {
    for (let n = 0; n < count; n++) expect(rates.takeClient("sign_in", ip)).toBeUndefined();
  };
  for (let net = 1; net <= 16; net++) fill(`2001:db8:1:${net}::1`, 10);
  expect(rates.takeClient("sign_in", "2001:db8:1:99::1")).toBe(60);
  rates.giveBackClient("sign_in", "2001:db8:1:1::/64");
  fill("2001:db8:1:99::1", 1);
  // What the network around refused is not counted for the client.
  for (let n = 0; n < 20; n++) expect(rates.takeClient("sign_in", "2001:db8:1:99::1")).toBe(60);
  for (let n = 0; n < 10; n++) rates.giveBackClient("sign_in", "2001:db8:1:2::1");
  fill("2001:db8:1:99::1", 9);
});
