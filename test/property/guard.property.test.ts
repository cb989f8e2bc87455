import { expect, test } from "bun:test";
import fc from "fast-check";
import { guardFault } from "../../src/orchestration/core/plan/guard.ts";
import { deployment } from "../support/manifests.ts";
import { simulatedVisitors } from "../support/simulated-visitors.ts";
import { keyOf, world } from "../support/world.ts";

const numRuns = Math.max(8, Math.floor(Number(process.env.BERTH_TEST_CASES ?? 100) / 10));

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

type Event = { do: "apply"; v: number } | { do: "crash" } | { do: "wait"; seconds: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("apply" as const), v: fc.integer({ min: 0, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 30 }) }) },
);

const replicas = 2;
const rollout = { min_ready: "2s", drain: "2s", guard: { errors: "10%", over: "10s", min_requests: 20 } };

test(
  "whatever is applied, and wherever the server dies, a version that fails visitors is never what stays",
  async () => {
    const app = (v: number) => deployment("shop", "web", { replicas, rollout, env: { V: String(v) } });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 8 }), async (events) => {
        // Odd versions fail every second request.
        const { trafficOf, pass, forget } = simulatedVisitors((version) => ({
          share: Number(version) % 2 === 1 ? 0.5 : 0,
        }));
        const it = await world({ trafficOf });
        const running = () => it.runtime.containers().filter(({ state }) => state === "running");
        await it.apply(app(0));
        await it.settle();
        const look = () => expect(running().length).toBeGreaterThanOrEqual(replicas);
        for (const happens of events) {
          if (happens.do === "apply") await it.apply(app(happens.v));
          else if (happens.do === "crash") {
            forget();
            await it.crash();
          } else await pass(it, happens.seconds, look);
        }
        await pass(it, 120, look);
        const [latest] = it.store.releases.list(keyOf("deployment", "shop", "web"));
        expect(latest).toMatchObject({ status: "succeeded", good: true });
        const versions = running().map(({ env }) => Number(env.V));
        expect(versions).toHaveLength(replicas);
        expect(new Set(versions).size).toBe(1);
        expect((versions[0] ?? 1) % 2).toBe(0);
        await it.close();
      }),
      { numRuns },
    );
  },
  60_000 + numRuns * 5_000,
);
