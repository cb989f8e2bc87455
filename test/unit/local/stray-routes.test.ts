import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closedIn, createStrayRoutes, nextClosed } from "../../../src/local/stray-routes.ts";
import { silentLog } from "../../support/silent-log.ts";

const limits = { lookMs: 1_000, formerMs: 60_000, subnetsMax: 3, changeMs: 1_000 };
const [first, second] = ["172.18.0.0/16", "172.19.0.0/16"];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strays."));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A kernel that knows bridges and unreachable routes, and the network of an engine. */
function machine() {
  const bridges = new Set<string>();
  const closed = new Set<string>();
  const warned: string[] = [];
  let now = 1_000_000;
  let engine: () => string[] = () => [...bridges];
  let refusal: string | undefined;
  const hex = (subnet: string) => {
    const bytes = (subnet.split("/")[0] ?? "").split(".").map(Number).reverse();
    return bytes.map((byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join("");
  };
  const table = () =>
    [
      "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT",
      ...[...bridges].map((subnet) => `br0 ${hex(subnet)} 0 0001 0 0 0 0000FFFF 0 0 0`),
      ...[...closed].map((subnet) => `* ${hex(subnet)} 0 0201 0 0 1650815604 0000FFFF 0 0 0`),
    ].join("\n");
  const file = join(folder, "subnets.json");
  const made = () =>
    createStrayRoutes({
      subnets: async () => engine(),
      file,
      table,
      async change(verb, subnet) {
        if (refusal !== undefined) throw new Error(refusal);
        if (verb === "del") closed.delete(subnet);
        else closed.add(subnet);
      },
      clock: { now: () => now, steady: () => now, sleep: async () => undefined },
      log: { ...silentLog, warn: (message) => void warned.push(message) },
      limits,
    });
  return {
    ...{ bridges, closed, warned, file, made },
    pass: (ms: number) => (now += ms),
    engineSays: (says: () => string[]) => (engine = says),
    refuse: (text: string | undefined) => (refusal = text),
  };
}

test("a subnet is closed while its network is there, stays closed without it, and opens a while after it moved", async () => {
  const { bridges, closed, file, made, pass } = machine();
  const strays = made();
  await strays.look();
  expect([...closed]).toEqual([]);
  bridges.add(first);
  await strays.look();
  expect([...closed]).toEqual([first]);
  bridges.delete(first);
  pass(10 * limits.formerMs);
  await strays.look();
  expect([...closed]).toEqual([first]);
  bridges.add(second);
  await strays.look();
  expect([...closed].toSorted()).toEqual([first, second]);
  pass(limits.formerMs);
  await strays.look();
  expect([...closed]).toEqual([second]);
  expect(closedIn(file)).toEqual([{ subnet: second }]);
});

test("the next server closes what the last one did, before it asks the engine, and again after a hand opened it", async () => {
  const { bridges, closed, made, engineSays, warned } = machine();
  bridges.add(first);
  await made().look();
  closed.clear();
  bridges.clear();
  engineSays(() => {
    throw new Error("no engine");
  });
  const next = made();
  await next.restore();
  expect([...closed]).toEqual([first]);
  closed.clear();
  await next.look();
  expect([[...closed], warned]).toEqual([[first], []]);
});

test("an engine of another machine closes nothing here", async () => {
  const { closed, made, engineSays } = machine();
  engineSays(() => [first]);
  await made().look();
  expect([...closed]).toEqual([]);
});

test("a machine that refuses the route is one warning, and the route comes once it no longer does", async () => {
  const { bridges, closed, made, refuse, warned } = machine();
  bridges.add(first);
  const strays = made();
  refuse("Operation not permitted");
  await strays.restore();
  await strays.look();
  await strays.look();
  expect(warned).toEqual(["connections to containers that are gone may leave this machine"]);
  refuse(undefined);
  await strays.look();
  expect([...closed]).toEqual([first]);
});

test("networks that come and go keep no more subnets than the limit, the newest", () => {
  let closed: ReturnType<typeof nextClosed> = [];
  for (let index = 0; index < 10; index++) {
    closed = nextClosed(closed, { current: [`172.${16 + index}.0.0/16`], now: index, ...limits });
  }
  expect(closed.map(({ subnet }) => subnet)).toEqual(["172.23.0.0/16", "172.24.0.0/16", "172.25.0.0/16"]);
});

test("a file that holds anything else is read as far as it holds subnets", () => {
  const file = join(folder, "subnets.json");
  for (const text of ["", "{}", "null", '[1, {"subnet": "x; reboot"}, {"subnet": "1.2.3.0/24", "leftAt": "no"}]']) {
    writeFileSync(file, text);
    expect(closedIn(file)).toEqual([]);
  }
  writeFileSync(file, `[{"subnet": "${first}", "leftAt": 5}, null]`);
  expect(closedIn(file)).toEqual([{ subnet: first, leftAt: 5 }]);
  expect(readFileSync(file, "utf8")).toContain(first);
});
