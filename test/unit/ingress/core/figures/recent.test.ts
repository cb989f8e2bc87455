import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  createFigures,
  addRequest,
  isFailure,
  type RequestSeen,
} from "../../../../../src/ingress/core/figures/figures.ts";
import { packHistogram } from "../../../../../src/base/pure/histogram.ts";
import { createRecent } from "../../../../../src/ingress/core/figures/recent.ts";

const at = 1_700_000_000_000;

function seen(more: Partial<RequestSeen> = {}): RequestSeen {
  return {
    at,
    site: "demo/hello",
    upstream: "c1",
    status: 200,
    ms: 5,
    bytesIn: 10,
    bytesOut: 100,
    retries: 0,
    wasHeld: false,
    isBroken: false,
    ...more,
  };
}

test("a request is counted once in everything that it was", () => {
  const figures = createFigures();
  addRequest(figures, seen());
  addRequest(figures, seen({ status: 503, retries: 2, wasHeld: true }));
  addRequest(figures, seen({ status: undefined }));
  expect(figures).toMatchObject({ requests: 3, failed: 1, retried: 1, held: 1, bytesIn: 30, bytesOut: 300 });
  expect(figures.byClass).toEqual([1, 0, 1, 0, 0, 1]);
});

test("server errors and broken answers are failures, client errors and clients that left are not", () => {
  expect(isFailure({ status: 500, isBroken: false })).toBe(true);
  expect(isFailure({ status: 200, isBroken: true })).toBe(true);
  expect(isFailure({ status: 404, isBroken: false })).toBe(false);
  expect(isFailure({ status: undefined, isBroken: false })).toBe(false);
});

test("a question is answered by site, replica and time", () => {
  const recent = createRecent({ secondsKept: 60, sumsMax: 10_000, upstreamsMax: 10 });
  recent.record(seen());
  recent.record(seen({ at: at + 1_000, upstream: "c2", status: 502 }));
  recent.record(seen({ at: at + 2_000, site: "demo/other" }));
  const all = { from: at, to: at + 10_000 };
  expect(recent.between(all).requests).toBe(3);
  expect(recent.between({ ...all, site: "demo/hello" }).requests).toBe(2);
  expect(recent.between({ ...all, site: "demo/hello", upstreams: new Set(["c2"]) }).failed).toBe(1);
  expect(recent.between({ from: at + 1_000, to: at + 2_000 }).requests).toBe(1);
  expect(recent.sites()).toEqual(["demo/hello", "demo/other"]);
});

test("what is older than the time kept goes, and late lines of it do not come back", () => {
  const recent = createRecent({ secondsKept: 10, sumsMax: 10_000, upstreamsMax: 10 });
  recent.record(seen());
  recent.record(seen({ at: at + 60_000, site: "demo/other" }));
  recent.record(seen());
  expect(recent.sites()).toEqual(["demo/other"]);
  expect(recent.between({ from: at, to: at + 1_000 }).requests).toBe(0);
});

test("more replicas than are kept apart are counted all the same", () => {
  const recent = createRecent({ secondsKept: 10, sumsMax: 10_000, upstreamsMax: 2 });
  for (let index = 0; index < 50; index += 1) recent.record(seen({ upstream: `c${index}` }));
  expect(recent.between({ from: at, to: at + 1_000 }).requests).toBe(50);
});

test("beyond the room for sums, the oldest seconds go and the newest stay", () => {
  const recent = createRecent({ secondsKept: 900, sumsMax: 20, upstreamsMax: 10 });
  for (let second = 0; second < 100; second += 1) {
    for (const site of ["demo/a", "demo/b"]) recent.record(seen({ at: at + second * 1_000, site }));
  }
  expect(recent.between({ from: at, to: at + 50_000 }).requests).toBe(0);
  expect(recent.between({ from: at + 99_000, to: at + 100_000 }).requests).toBe(2);
  expect(recent.between({ from: at, to: at + 100_000 }).requests).toBeGreaterThanOrEqual(16);
});

test("the sums over any cut of the time are the sums of the whole", () => {
  const request = fc.record({
    offset: fc.nat(20_000),
    status: fc.constantFrom(200, 301, 404, 500, undefined),
    ms: fc.nat(9_000),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 60 }), fc.nat(20), (requests, cut) => {
      const recent = createRecent({ secondsKept: 100, sumsMax: 10_000, upstreamsMax: 5 });
      for (const { offset, status, ms } of requests) recent.record(seen({ at: at + offset, status, ms }));
      const middle = at + cut * 1_000;
      const [whole, before, after] = [
        recent.between({ from: at, to: at + 30_000 }),
        recent.between({ from: at, to: middle }),
        recent.between({ from: middle, to: at + 30_000 }),
      ];
      expect(before.requests + after.requests).toBe(whole.requests);
      expect(before.failed + after.failed).toBe(whole.failed);
      const expected = createFigures();
      for (const { status, ms } of requests) addRequest(expected, seen({ status, ms }));
      expect(packHistogram(whole.latency)).toEqual(packHistogram(expected.latency));
    }),
  );
});
