import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type CallState, createOutbox } from "../../src/base/deliver/outbox.ts";
import type { Attempt } from "../../src/base/deliver/webhook.ts";
import { createSeal } from "../../src/base/sqlite/seal.ts";
import { secret } from "../../src/base/words/secret.ts";
import { identityLimits, limits } from "../../src/config/config.ts";
import type { IdentityEventType } from "../../src/identity/api/events.ts";
import { emit } from "../../src/identity/service/events.ts";
import { identityMigrations } from "../../src/identity/store/open-store.ts";
import { createWebhookDeliveries } from "../../src/identity/store/webhook-deliveries.ts";
import { createWebhooks } from "../../src/identity/store/webhooks.ts";
import { deliveryOf } from "../../src/orchestration/controller/state/webhooks.ts";
import { createDeliveries } from "../../src/orchestration/store/deliveries.ts";
import { stateMigrations } from "../../src/orchestration/store/migrations/all.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { silentLog } from "../support/silent-log.ts";
import { createTurns } from "../support/turns.ts";

/** What becomes of an attempt: `lost` arrives and its answer does not, `crash` arrives and ends the server. */
type Fate = "taken" | "declined" | "lost" | "crash";
type Step = { do: "tell"; subject: number; sort: number } | { do: "wait"; seconds: number } | { do: "restart" };

const fates = fc.array(fc.constantFrom<Fate>("taken", "declined", "declined", "lost", "crash"), { maxLength: 30 });
const steps = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("tell" as const), subject: fc.nat(2), sort: fc.nat(2) }),
    },
    fc.record({ do: fc.constant("wait" as const), seconds: fc.constantFrom(1, 7, 40, 4_000) }),
    fc.record({ do: fc.constant("restart" as const) }),
  ),
  { minLength: 3, maxLength: 25 },
);

interface Waiting {
  id: string;
  attempts: number;
  nextAt: number;
}

/** An outbox as a test sees it. `tell` puts a call into it that is about a subject. */
interface Box {
  waiting(limit: number): Waiting[];
  record(call: Waiting, state: CallState): void;
  tell(subject: number, sort: number, now: number): string;
  pausesMs: readonly number[];
}

function identityBox(): Box {
  const db = memory(identityMigrations);
  db.run("insert into apps (id, name, created_at) values ('a', 'a', 1)");
  const nothing = () => undefined;
  const webhooks = createWebhooks(db, createSeal(secret(new Uint8Array(32))), nothing);
  const deliveries = createWebhookDeliveries(db, nothing);
  db.run("pragma foreign_keys = off");
  webhooks.add({ id: "h", instance: 1, url: "https://a.test/", secret: "s", events: [], enabled: true, createdAt: 1 });
  const sorts: IdentityEventType[] = ["user.updated", "user.banned", "session.created"];
  return {
    waiting: (limit) => deliveries.waiting(limit, 2),
    record: ({ id }, state) => deliveries.update({ id, ...state }),
    tell(subject, sort, now) {
      const type = sorts[sort] ?? "user.updated";
      const data =
        type === "session.created" ? { id: crypto.randomUUID(), user_id: `u${subject}` } : { id: `u${subject}` };
      emit({ webhooks, webhookDeliveries: deliveries }, { instance: { seq: 1, id: "i" }, type, data, now });
      return deliveries.list(1, 1)[0]?.id ?? "";
    },
    pausesMs: identityLimits.webhookPausesMs,
  };
}

function platformBox(): Box {
  const deliveries = createDeliveries(memory(stateMigrations), createSeal(secret(new Uint8Array(32))), 1_000);
  const key = { kind: "deployment", scope: "shop", name: "web" } as const;
  let made = 0;
  return {
    waiting: (limit) => deliveries.due(Number.MAX_SAFE_INTEGER, limit),
    record({ id }, state) {
      const before = deliveries.list(key, 1_000).find((one) => one.id === id);
      if (before !== undefined) deliveries.put({ ...before, ...state });
    },
    tell(subject, sort, now) {
      const id = `d${++made}`;
      const call = { url: `https://a.test/${sort}`, method: "POST", headers: {}, body: "", problem: undefined };
      const about = subject === 0 ? "deploy" : `probe web-${subject}:liveness:`;
      deliveries.put(deliveryOf(key, { event: "deploy.success", ...call }, { id, about, now, sendAt: now }));
      return id;
    },
    pausesMs: limits.webhookPausesMs,
  };
}

function memory(migrations: readonly string[]): Database {
  const db = new Database(":memory:");
  for (const one of migrations) db.run(one);
  return db;
}

/** Runs the outbox against a receiver with moods; what it received, by id, in order. */
async function play(box: Box, clock: FakeClock, given: { steps: readonly Step[]; fates: readonly Fate[] }) {
  const turns = createTurns(clock);
  const moods = [...given.fates];
  const received: string[] = [];
  const about = new Map<string, { subject: number; place: number }>();
  let stopping = new AbortController();
  let ended = Promise.resolve();
  let wake = () => {};

  const send = ({ id }: Waiting, signal: AbortSignal): Promise<Attempt> => {
    const fate = moods.shift() ?? "taken";
    if (fate !== "declined") received.push(id);
    if (fate === "crash") {
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    }
    return Promise.resolve({ outcome: fate === "taken" ? "delivered" : "failed", result: fate });
  };
  async function restart() {
    stopping.abort();
    await ended;
    stopping = new AbortController();
    const outbox = createOutbox<Waiting>({
      waiting: box.waiting,
      record: async (call, state) => box.record(call, state),
      send,
      clock,
      log: silentLog,
      pausesMs: box.pausesMs,
      longestWaitMs: 3_600_000,
      inFlightMax: 3,
    });
    wake = outbox.wake;
    ended = outbox.run(stopping.signal);
  }
  await restart();
  for (const step of given.steps) {
    if (step.do === "restart") await restart();
    else if (step.do === "wait") await turns.advance(step.seconds * 1_000);
    else about.set(box.tell(step.subject, step.sort, clock.now()), { subject: step.subject, place: about.size });
    wake();
    await turns.quiet();
  }
  moods.length = 0;
  await restart();
  await turns.advance(3 * 3_600_000);
  stopping.abort();
  await ended;
  return { received, about };
}

test.each([
  ["users", identityBox],
  ["deploys and probes", platformBox],
])(
  "webhooks of %s about one subject never arrive in another order",
  async (_, open) => {
    await fc.assert(
      fc.asyncProperty(fc.record({ steps, fates }), async (given) => {
        const { received, about } = await play(open(), createFakeClock(), given);
        for (const subject of [0, 1, 2]) {
          const places = received.map((id) => about.get(id)).filter((one) => one?.subject === subject);
          const order = places.map((one) => one?.place ?? -1);
          expect(order).toEqual(order.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: Number(process.env.BERTH_TEST_CASES ?? 20) },
    );
  },
  120_000,
);
