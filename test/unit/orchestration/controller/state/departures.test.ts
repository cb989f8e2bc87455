import { expect, test } from "bun:test";
import type { ManifestKey } from "../../../../../src/orchestration/api/manifest.ts";
import { createDepartures } from "../../../../../src/orchestration/controller/state/departures.ts";

const key = { kind: "deployment", scope: "shop", name: "web" };

function setup() {
  const known = new Set(["a", "b"]);
  const ended: ManifestKey[] = [];
  const departures = createDepartures({ isKnown: (id) => known.has(id), onEnd: (one) => ended.push(one) });
  return { known, ended, departures };
}

test("a replica departs until its removal ends, and its resource is told then", async () => {
  const { ended, departures } = setup();
  const work = Promise.withResolvers<void>();
  departures.begin(key, "a", work.promise);
  expect([departures.has("a"), departures.has("b"), ended]).toEqual([true, false, []]);
  work.resolve();
  await departures.settled();
  expect([departures.has("a"), departures.hasFailed("a"), ended]).toEqual([false, false, [key]]);
});

test("one that could not be removed is known until its container is gone, and its resource is told as well", async () => {
  const { known, ended, departures } = setup();
  departures.begin(key, "a", Promise.reject(new Error("device busy")));
  await departures.settled();
  expect([departures.has("a"), departures.hasFailed("a"), ended]).toEqual([false, true, [key]]);
  departures.begin(key, "b", Promise.resolve());
  expect(departures.hasFailed("a")).toBe(true);
  known.delete("a");
  departures.begin(key, "b", Promise.resolve());
  expect(departures.hasFailed("a")).toBe(false);
});

test("all of them are waited for", async () => {
  const { ended, departures } = setup();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  departures.begin(key, "a", first.promise);
  departures.begin(key, "b", second.promise);
  let isSettled = false;
  const settled = departures.settled().then(() => (isSettled = true));
  first.resolve();
  await first.promise;
  await Promise.resolve();
  expect(isSettled).toBe(false);
  second.resolve();
  await settled;
  expect(ended).toHaveLength(2);
});
