import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Manifest, Spec } from "../../src/orchestration/api/manifest.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { keyOf, type World, world } from "../support/world.ts";

const numRuns = Math.max(8, Math.floor(Number(process.env.BERTH_TEST_CASES ?? 100) / 10));
const timeoutMs = 60_000 + numRuns * 5_000;

type Event =
  | { do: "apply"; v: number }
  | { do: "config"; value: number }
  | { do: "restart" | "rollback" | "crash" | "engine" }
  | { do: "jump"; ms: number }
  | { do: "wait"; ms: number };

const wait = fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 9_000 }) });
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("apply" as const), v: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("config" as const), value: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("restart", "rollback", "crash", "engine" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("jump" as const), ms: fc.constantFrom(-3_600_000, 3_600_000) }) },
  { weight: 6, arbitrary: wait },
);

const replicas = 3;
const minReadyMs = 3_000;
const lookMs = 500;
const rollout = { min_ready: `${minReadyMs}ms`, progress_deadline: "2m", drain: "4s" };
const common = (v: number): Spec => ({ replicas, rollout, env: { V: String(v) } });
const app = (v: number): Manifest => deployment("shop", "web", common(v));
const db = (v: number): Manifest => statefulset("shop", "web", common(v));

/** Counts replicas that have been running for `min_ready`, on a clock that nobody sets. */
function readiness() {
  const seenAt = new Map<string, number>();
  return (it: World): number => {
    const now = it.clock.steady();
    const running = pods(it).filter(({ state }) => state === "running");
    for (const { id } of running) if (!seenAt.has(id)) seenAt.set(id, now);
    // Seen for the first time up to one look late.
    return running.filter(({ id }) => now - (seenAt.get(id) ?? now) >= minReadyMs - lookMs).length;
  };
}

/** Runs the events one after the other and calls `look` at every moment in between; ends at rest. */
async function live(kind: "deployment" | "statefulset", events: Event[], look: (it: World) => void): Promise<World> {
  const it = await world();
  const manifest = kind === "deployment" ? app : db;
  const target = { kind, scope: "shop", name: "web" };
  await it.apply(manifest(0));
  await it.settle();
  look(it);
  await it.advance(minReadyMs);
  for (const event of events) {
    await act(it, event);
    look(it);
  }
  await passing(it, 5 * 60_000);
  await it.settle(10 * 60_000);
  look(it);
  return it;

  async function act(it: World, event: Event): Promise<void> {
    switch (event.do) {
      case "apply":
        await it.apply(manifest(event.v));
        break;
      case "config":
        await it.controller.setConfig(target, { C: String(event.value) }, { restart: true, actor: "ana" });
        break;
      case "restart":
        await it.controller.restart(target, { wait: false, actor: "ana" });
        break;
      case "rollback":
        // There may be nothing to return to yet.
        await it.controller.rollback({ ...target, releaseId: undefined }, { actor: "ana" }).catch(() => undefined);
        break;
      case "crash":
        await it.crash();
        break;
      case "engine":
        it.runtime.engineDown();
        await passing(it, 2_000);
        it.runtime.engineUp();
        break;
      case "jump":
        it.clock.jump(event.ms);
        // A server that dies before that, with the clock set back, cannot know that a replica without probes was too young.
        await passing(it, minReadyMs + lookMs);
        break;
      case "wait":
        await passing(it, event.ms);
    }
    await it.quiet();
  }

  async function passing(it: World, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= lookMs) {
      await it.advance(Math.min(lookMs, left));
      look(it);
      for (const { name, state } of pods(it)) {
        if (state === "running") it.runtime.setConnections(name, { listening: true, established: 0 });
      }
    }
  }
}

const pods = (it: World) => it.runtime.containers().filter(({ name }) => name.startsWith("shop-web."));

/** What was written last is what runs, all of it made from the last config, and every release has ended. */
function expectLastWritten(it: World, kind: "deployment" | "statefulset"): void {
  const key = keyOf(kind, "shop", "web");
  const stored = it.store.manifests.get(key);
  const config = it.store.config.merged("shop", "web");
  expect(pods(it).map(({ env, state }) => [env.V, env.C, state])).toEqual(
    Array.from({ length: replicas }, () => [
      (stored?.spec.env as { V: string } | undefined)?.V,
      config.C,
      "running",
    ]) as never,
  );
  const [latest, ...earlier] = it.store.releases.list(key);
  expect(latest).toMatchObject({ status: "succeeded", good: true });
  expect(earlier.filter(({ endedAt }) => endedAt === undefined)).toEqual([]);
}

test(
  "changes of every kind during rollouts merge into one that ends at the last, never below the wanted count",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 14 }), async (events) => {
        const readyCount = readiness();
        let first = true;
        const it = await live("deployment", events, (now) => {
          const running = pods(now).filter(({ state }) => state === "running");
          const ready = readyCount(now);
          if (!first) expect(ready).toBeGreaterThanOrEqual(replicas);
          first = false;
          // One of the surge, and one that drains beside it.
          expect(running.length).toBeLessThanOrEqual(replicas + 2);
        });
        expectLastWritten(it, "deployment");
        await it.close();
      }),
      { numRuns },
    );
  },
  timeoutMs,
);

test(
  "of a statefulset no two ordinals are ever away at the same time",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 14 }), async (events) => {
        const it = await live("statefulset", events, (now) => {
          const running = pods(now).filter(({ state }) => state === "running");
          expect(running.length).toBeGreaterThanOrEqual(replicas - 1);
          expect(new Set(running.map(({ name }) => name)).size).toBe(running.length);
        });
        expectLastWritten(it, "statefulset");
        await it.close();
      }),
      { numRuns },
    );
  },
  timeoutMs,
);
