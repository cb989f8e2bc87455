import { expect, test } from "bun:test";
import { identityLimits } from "../../../../src/config/config.ts";
import { stateLimitReached } from "../../../../src/identity/core/state-room.ts";

const limits = identityLimits.signIn;

/** Starts until nobody gets further; how many each client of each instance holds. */
function flood(instances: number, clients: number): { all: number; instance: number; client: number } {
  const held = Array.from({ length: instances }, () => Array<number>(clients).fill(0));
  const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);
  let all = 0;
  for (let moved = true; moved;) {
    moved = false;
    for (const instance of held) {
      let inInstance = sum(instance);
      for (let at = 0; at < clients; at++) {
        const client = instance[at] ?? 0;
        if (stateLimitReached({ all, instance: inInstance, client }, limits) !== undefined) continue;
        instance[at] = client + 1;
        inInstance += 1;
        all += 1;
        moved = true;
      }
    }
  }
  return { all, instance: sum(held[0] ?? []), client: held[0]?.[0] ?? 0 };
}

test("one client gets a small part of an instance, and the instance a part of all", () => {
  const one = flood(1, 1);
  expect(one.client).toBeGreaterThan(500);
  expect(one.client).toBeLessThan(1_000);
  const many = flood(1, 400);
  expect(many.instance).toBeGreaterThan(15_000);
  expect(many.instance).toBeLessThan(limits.statesKept / 4);
});

test.each([
  [1, 1],
  [1, 200],
  [20, 20],
])("after a flood of %i instances by %i clients there is room for anybody else", (instances, clients) => {
  const { all, instance } = flood(instances, clients);
  expect(stateLimitReached({ all, instance, client: 0 }, limits)).toBeUndefined();
  expect(stateLimitReached({ all, instance: 0, client: 0 }, limits)).toBeUndefined();
});

test("it says who holds too many", () => {
  expect(stateLimitReached({ all: 800, instance: 800, client: 800 }, limits)).toBe("client");
  expect(stateLimitReached({ all: 20_000, instance: 20_000, client: 0 }, limits)).toBe("instance");
  expect(stateLimitReached({ all: limits.statesKept, instance: 0, client: 0 }, limits)).toBe("instance");
});
