import { expect, test } from "bun:test";
import { createTally } from "../../../../../src/ingress/core/figures/tally.ts";

const seen = (site: string) => ({
  ...{ at: 0, site, upstream: undefined, status: 200, ms: 3, bytesIn: 1, bytesOut: 2, retries: 0 },
  ...{ wasHeld: false, isBroken: false },
});

test("what was counted is taken once, by site and host", () => {
  const tally = createTally(2);
  tally.add(seen("shop/web"), "a.example");
  tally.add(seen("shop/web"), "a.example");
  tally.add(seen("shop/api"), undefined);
  const taken = tally.take().map(({ site, host, figures }) => [site, host, figures.requests]);
  expect(taken).toEqual([
    ["shop/web", "a.example", 2],
    ["shop/api", "", 1],
  ]);
  expect(tally.take()).toEqual([]);
});

test("a site that is asked for any host counts the further ones together", () => {
  const tally = createTally(2);
  for (const host of ["a", "b", "c", "d", "a"]) tally.add(seen("shop/web"), host);
  const taken = tally.take().map(({ host, figures }) => [host, figures.requests]);
  expect(taken).toEqual([
    ["a", 2],
    ["b", 1],
    ["other", 2],
  ]);
});
