import { afterEach, beforeEach, expect, test } from "bun:test";
import { followLoad, idleJitPolicy } from "../../../../src/base/words/follow-load.ts";

const mib = 1024 * 1024;
let policies: number[];
let collections: number;
let collectionMs: number;
let drops: number;
let resident: number;
let code: number;
let [cpu, now] = [0, 0];
let load: ReturnType<typeof followLoad>;

beforeEach(() => {
  policies = [];
  [collections, collectionMs, drops, resident, cpu, now] = [0, 5, 0, 90 * mib, 500, 10_000];
  code = 30 * mib;
  load = followLoad({
    setPolicy: (scale) => policies.push(scale),
    collect() {
      collections += 1;
      cpu += collectionMs;
    },
    dropCode() {
      drops += 1;
      cpu += 2;
      code = 20 * mib;
    },
    residentBytes: () => resident,
    codeBytes: () => code,
    cpuMs: () => cpu,
    nowMs: () => now,
  });
});
afterEach(() => load.stop());

function second(usedMs: number): void {
  cpu += usedMs;
  now += 1_000;
  load.look();
}

function seconds(count: number, usedMs: number): void {
  for (let n = 0; n < count; n++) second(usedMs);
}

test("code is compiled as usual while more than a tenth of a core is used, and late again afterwards", () => {
  seconds(3, 100);
  expect(policies).toEqual([]);
  seconds(2, 101);
  expect(policies).toEqual([1]);
  seconds(2, 40);
  expect(policies).toEqual([1, idleJitPolicy]);
});

test("what the start has left is collected once it is over, and not while it goes on", () => {
  seconds(10, 900);
  expect(collections).toBe(0);
  second(40);
  expect(collections).toBe(1);
});

test("so is what later work of 150 ms of CPU has left", () => {
  second(10);
  expect(collections).toBe(1);
  seconds(2, 73);
  second(1);
  expect(collections).toBe(1);
  second(73);
  second(1);
  expect(collections).toBe(2);
});

test("an idle process collects after 375 ms of CPU", () => {
  second(10);
  seconds(37, 10);
  expect(collections).toBe(1);
  seconds(2, 10);
  expect(collections).toBe(2);
});

test("collections that take long come less often: they are at most a twentieth of the work", () => {
  collectionMs = 100;
  second(10);
  expect(collections).toBe(1);
  seconds(3, 100);
  second(10);
  expect(collections).toBe(2);
  seconds(19, 100);
  second(10);
  expect(collections).toBe(2);
  second(100);
  second(10);
  expect(collections).toBe(3);
});

test("code is dropped while the process is idle and its code is more than 36 MiB, at most each 10 s", () => {
  code = 48 * mib;
  second(900);
  expect(drops).toBe(0);
  second(10);
  expect([drops, code]).toEqual([1, 20 * mib]);
  code = 40 * mib;
  seconds(9, 6);
  expect(drops).toBe(1);
  second(6);
  expect(drops).toBe(2);
  code = 36 * mib;
  seconds(60, 6);
  expect(drops).toBe(2);
});

test("a large process is left to the collector", () => {
  [resident, code] = [300 * mib, 100 * mib];
  seconds(100, 40);
  expect([collections, drops]).toEqual([0, 0]);
});
