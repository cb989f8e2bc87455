import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  memoryCautions,
  type Moment,
  openedPorts,
  servingOf,
} from "../../../../../src/orchestration/core/plan/consequences.ts";

const moments = (...ready: number[]): Moment[] => ready.map((count) => ({ ready: count, all: count }));
const mib = 1024 * 1024;

describe("replicas that go on serving", () => {
  test.each([
    ["surge keeps all", moments(2, 3, 2, 3, 2), 2, { before: 2, least: 2 }],
    ["one at a time", moments(3, 2, 3, 2, 3), 3, { before: 3, least: 2 }],
    ["recreated", moments(1, 0, 1), 1, { before: 1, least: 0 }],
    ["scaled down meanwhile", moments(5, 6, 3), 3, { before: 3, least: 3 }],
    ["nothing replaced", moments(2, 3), 0, undefined],
    ["nothing served before", moments(0, 1), 1, undefined],
  ])("%s", (_, list, replaced, serving) => expect(servingOf(list, replaced)).toEqual(serving));

  test("are never more than there are before", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (ready, replaced) => {
          const serving = servingOf(moments(...ready), replaced);
          expect(serving === undefined || serving.least <= serving.before).toBe(true);
        },
      ),
    );
  });
});

describe("memory", () => {
  const limits = (limit: number | undefined, free: number | undefined) => ({
    limitBytes: limit && limit * mib,
    freeBytes: free && free * mib,
  });
  test("that may not be there for replicas beside each other is told", () => {
    expect(memoryCautions(moments(2, 3, 2), limits(512, 300))).toEqual([
      "memory: 1 more replica at the same time may use 512Mi, and 300Mi of this machine are free",
    ]);
    expect(memoryCautions(moments(0, 4), limits(512, 2000))).toEqual([
      "memory: 4 more replicas at the same time may use 2Gi, and 2000Mi of this machine are free",
    ]);
  });

  test.each([
    ["there is enough", moments(2, 3, 2), limits(512, 512)],
    ["no limit is set", moments(2, 3, 2), limits(undefined, 1)],
    ["what is free is not known", moments(2, 3, 2), limits(512, undefined)],
    ["none are beside each other", moments(2, 1, 2), limits(512, 1)],
  ])("is not where %s", (_, list, given) => expect(memoryCautions(list, given)).toEqual([]));
});

describe("ports that other machines can reach", () => {
  test.each([
    [undefined, ["80", "8080:80", "127.0.0.2:81:81", "[::1]:82:82"], []],
    [undefined, ["0.0.0.0:8080:80", "[::]:53:53/udp", "10.0.0.1::80"], ["8080", "53/udp", "a free port"]],
    [["0.0.0.0:8080:80"], ["0.0.0.0:8080:81", "0.0.0.0:9090:81"], ["9090"]],
    [["8080:80"], ["0.0.0.0:8080:80"], ["8080"]],
    [["0.0.0.0:8080:80"], [], []],
    [undefined, ["junk", "1:2:3:4"], []],
  ])("from %j to %j: %j", (before, after, opened) =>
    expect(openedPorts("deployment", before && { ports: before }, { ports: after })).toEqual(
      opened.map((port) => `ports: ${port} can be reached from other machines`),
    ),
  );
});
