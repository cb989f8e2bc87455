import { expect, test } from "bun:test";
import fc from "fast-check";
import { guardFault } from "../../src/orchestration/core/plan/guard.ts";

const figures = fc
  .record({ requests: fc.nat(500), share: fc.double({ min: 0, max: 1, noNaN: true }), p99_ms: fc.nat(5_000) })
  .map(({ requests, share, p99_ms }) => ({ requests, failed: Math.round(requests * share), p99_ms }));
const guard = fc.record({
  failedShareMax: fc.option(fc.double({ min: 0, max: 0.99, noNaN: true }), { nil: undefined }),
  p99MsMax: fc.option(fc.integer({ min: 1, max: 3_000 }), { nil: undefined }),
  overMs: fc.constant(30_000),
  requestsMin: fc.integer({ min: 1, max: 100 }),
});
const input = fc.record({ fresh: figures, old: fc.option(figures, { nil: undefined }) });

test("new replicas that do as well as the old ones are never at fault", () => {
  fc.assert(fc.property(guard, figures, (own, same) => guardFault(own, { fresh: same, old: same }) === undefined));
});

test("a fault always has enough requests, and a figure that is past its limit and worse than before", () => {
  fc.assert(
    fc.property(guard, input, (own, { fresh, old }) => {
      if (guardFault(own, { fresh, old }) === undefined) return;
      expect(fresh.requests).toBeGreaterThanOrEqual(own.requestsMin);
      const share = fresh.failed / fresh.requests;
      const oldShare = old === undefined || old.requests === 0 ? 0 : old.failed / old.requests;
      const failing = own.failedShareMax !== undefined && share > own.failedShareMax && share > oldShare;
      const slow = own.p99MsMax !== undefined && fresh.p99_ms > own.p99MsMax && fresh.p99_ms > (old?.p99_ms ?? 0);
      expect(failing || slow).toBe(true);
    }),
  );
});

test("one more failed request never makes a fault go away", () => {
  fc.assert(
    fc.property(guard, input, (own, { fresh, old }) => {
      fc.pre(fresh.failed < fresh.requests);
      const worse = { ...fresh, failed: fresh.failed + 1 };
      if (guardFault(own, { fresh, old }) !== undefined) expect(guardFault(own, { fresh: worse, old })).toBeDefined();
    }),
  );
});
