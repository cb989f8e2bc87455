import { expect, test } from "bun:test";
import fc from "fast-check";
import { podOf } from "../../src/orchestration/core/spec/decode.ts";
import { deployment } from "../support/manifests.ts";
import { simulatedVisitors } from "../support/simulated-visitors.ts";
import { keyOf, type World, world } from "../support/world.ts";

const numRuns = Math.max(10, Math.floor(Number(process.env.BERTH_TEST_CASES ?? 50) / 5));

type Command = "pause" | "resume" | "promote" | "abort";
type Event =
  | { do: "apply"; v: number; plan: keyof typeof plans }
  | { do: "tell"; command: Command }
  | { do: "crash" }
  | { do: "restart" }
  | { do: "kill"; which: number }
  | { do: "wait"; seconds: number };

const plans = {
  steps: { canary: [{ weight: "10%", pause: "8s" }, "50%"] },
  person: { canary: [{ weight: "25%", pause: "forever" }, "100%"] },
  blueGreen: { canary: ["100%"], keep: "30s" },
  rolling: {},
};

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("apply" as const),
      v: fc.integer({ min: 0, max: 5 }),
      plan: fc.constantFrom("steps", "person", "blueGreen", "rolling"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("tell" as const),
      command: fc.constantFrom("pause", "resume", "promote", "abort"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "crash" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "restart" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("kill" as const), which: fc.nat(9) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 25 }) }) },
);

/** The newest good release has no replicas left: the one before it was wanted again, and another came at once. */
const wantedAgain: Event[] = [
  { do: "apply", v: 2, plan: "blueGreen" },
  { do: "wait", seconds: 6 },
  { do: "apply", v: 0, plan: "steps" },
  { do: "apply", v: 3, plan: "steps" },
];

const key = keyOf("deployment", "shop", "web");
const replicas = 3;
const guard = { errors: "10%", over: "5s", min_requests: 10 };
const app = (v: number, plan: Record<string, unknown>) =>
  deployment("shop", "web", {
    replicas,
    rollout: { min_ready: "1s", drain: "1s", guard, ...plan },
    env: { V: String(v) },
  });

const running = (it: World) => it.runtime.containers().filter(({ state }) => state === "running");

const isBad = (it: World) => {
  const stored = it.store.manifests.get(key);
  return Number(stored && podOf(stored)?.env.V) % 2 === 1;
};

async function happen(it: World, happens: Exclude<Event, { do: "wait" }>, forget: () => void): Promise<void> {
  switch (happens.do) {
    case "apply":
      await it.apply(app(happens.v, plans[happens.plan]));
      return;
    case "tell":
      await it.controller.tellRollout(key, { command: happens.command, actor: "ana" }).catch((error: unknown) => {
        expect(error).toMatchObject({ code: "conflict" });
      });
      return;
    case "crash":
      forget();
      return it.crash();
    case "restart":
      await it.controller.restart(key, { wait: false, actor: "ana" });
      return;
    case "kill": {
      const pods = running(it);
      it.runtime.kill(pods[happens.which % pods.length]?.name ?? "");
      return it.quiet();
    }
  }
}

test(
  "whatever is applied, told and killed, requests always have a replica, and no version that fails visitors stays",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (events) => {
        // Odd versions fail every second request.
        const { trafficOf, pass, forget } = simulatedVisitors(
          (version) => ({ share: Number(version) % 2 === 1 ? 0.5 : 0 }),
          { byWeight: true },
        );
        const it = await world({ trafficOf });
        await it.apply(app(0, {}));
        await it.settle();
        const look = () => {
          const served = (it.running.endpoints.list() ?? []).filter(({ ready }) => ready);
          expect(served.length).toBeGreaterThan(0);
          for (const { weight = 100 } of served) expect(weight).toBeWithin(1, 257);
          // One may just have been killed.
          expect(running(it).length).toBeGreaterThanOrEqual(replicas - 1);
        };
        for (const happens of events) {
          // Who promotes does so at their own risk.
          const isRisk = happens.do === "tell" && happens.command === "promote" && isBad(it);
          if (isRisk) continue;
          if (happens.do === "wait") await pass(it, happens.seconds, look);
          else await happen(it, happens, forget);
        }
        // Nobody holds anything up for ever.
        for (let round = 0; round < 4; round++) {
          await it.controller.tellRollout(key, { command: "resume", actor: "ana" }).catch(() => undefined);
          await pass(it, 40, look);
        }
        await it.advance(60_000);
        expect(await it.status("deployment", "shop", "web")).toMatchObject({ phase: "ready" });
        expect(it.store.canaries.get(key)).toBeUndefined();
        const versions = running(it).map(({ env }) => Number(env.V));
        expect(versions).toHaveLength(replicas);
        expect(new Set(versions).size).toBe(1);
        expect((versions[0] ?? 1) % 2).toBe(0);
        await it.close();
      }),
      { numRuns, examples: [[wantedAgain]] },
    );
  },
  60_000 + numRuns * 5_000,
);
