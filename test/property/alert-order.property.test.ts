import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Attempt } from "../../src/base/deliver/webhook.ts";
import { report } from "../../src/observability/service/alerts/report.ts";
import { createAlertOutbox } from "../../src/observability/service/alerts/outbox.ts";
import { createSendDelivery } from "../../src/observability/service/alerts/send.ts";
import { alertWorld } from "../support/alert-world.ts";
import { createTurns } from "../support/turns.ts";

/** What becomes of an attempt: `lost` arrives and its answer does not, `cut` may not have arrived, `crash` ends the server. */
type Fate = "taken" | "declined" | "lost" | "cut" | "crash";
type Step =
  | { do: "fire"; alert: number }
  | { do: "end"; alert: number }
  | { do: "wait"; minutes: number }
  | { do: "restart" }
  | { do: "fates"; fates: Fate[] };

const alertsMax = 3;
const step = fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
  { arbitrary: fc.record({ do: fc.constant("fire" as const), alert: fc.nat(alertsMax - 1) }), weight: 2 },
  { arbitrary: fc.record({ do: fc.constant("end" as const), alert: fc.nat(alertsMax - 1) }), weight: 2 },
  fc.record({ do: fc.constant("wait" as const), minutes: fc.constantFrom(1, 6, 70, 400) }),
  fc.record({ do: fc.constant("restart" as const) }),
  fc.record({
    do: fc.constant("fates" as const),
    fates: fc.array(fc.constantFrom<Fate>("taken", "declined", "lost", "cut", "crash"), { maxLength: 12 }),
  }),
);

interface Heard {
  type: "fired" | "ended";
  id: string;
}

/** A server with alerts in two groups, and a receiver with moods. */
function scene() {
  const world = alertWorld();
  const { parts, clock } = world;
  const { store } = parts;
  const turns = createTurns(clock);
  const heard = new Map<string, Heard[]>();
  const pager = new Map<string, "trigger" | "resolve">();
  /** Alerts of which an attempt at a channel may have arrived. */
  const mayHave = new Set<string>();
  let fates: Fate[] = [];
  let stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  let made = 0;
  const current = new Map<number, string>();

  const take = (channel: string, body: string) => {
    const got = JSON.parse(body);
    if (channel === "pager") {
      pager.set(got.dedup_key, got.event_action);
      return;
    }
    const list = heard.get(channel) ?? [];
    heard.set(channel, list);
    for (const { id } of [...got.fired, ...got.reminded]) list.push({ type: "fired", id });
    for (const { id } of got.resolved) list.push({ type: "ended", id });
  };
  const send = createSendDelivery({
    ...parts,
    async sendWebhook({ url, body }): Promise<Attempt> {
      const channel = new URL(url).hostname.split(".")[0] ?? "";
      const fate = fates.shift() ?? "taken";
      if (fate !== "declined" && channel !== "pager")
        for (const { id } of JSON.parse(body).fired) mayHave.add(`${channel} ${id}`);
      if (fate === "taken" || fate === "lost" || fate === "crash") take(channel, body);
      if (fate === "crash") return new Promise(() => undefined);
      if (fate === "taken") return { outcome: "delivered", result: "status 200" };
      return fate === "declined"
        ? { outcome: "failed", result: "status 400", unheard: true }
        : { outcome: "failed", result: "status 500" };
    },
  });

  function start(): void {
    stopping = new AbortController();
    const outbox = createAlertOutbox(parts, async (sending, signal) => {
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      return Promise.race([send(sending, signal), aborted]);
    });
    ended = outbox.run(stopping.signal);
    wake = outbox.wake;
  }
  let wake = () => {};
  async function restart(): Promise<void> {
    stopping.abort();
    await ended;
    start();
  }
  async function look(): Promise<void> {
    await turns.advance(parts.limits.plan.waitMs);
    if (await report(parts, [])) wake();
    await turns.quiet();
  }
  async function change(alert: number, state: "firing" | "resolved"): Promise<void> {
    const id = current.get(alert);
    const now = clock.now();
    if (state === "firing" && id === undefined) {
      const next = `alert${++made}`;
      current.set(alert, next);
      const labels = { scope: "shop", name: `app${alert}` };
      await store.write(({ alerts }) =>
        alerts.add({
          ...{ id: next, fingerprint: `down ${alert}`, rule: "down", severity: "critical", labels, state: "firing" },
          ...{ title: `app${alert} is down`, detail: "", value: undefined, since: now, firedAt: now },
          ...{ wellSince: undefined, resolvedAt: undefined, group: `group${alert % 2}`, firstSentAt: undefined },
          ...{ sentAt: undefined, endSent: false, acknowledged: undefined, why: undefined },
        }),
      );
    }
    if (state === "resolved" && id !== undefined) {
      current.delete(alert);
      await store.write(({ alerts }) => {
        const record = alerts.get(id);
        if (record !== undefined) alerts.update({ ...record, state: "resolved", resolvedAt: now });
      });
    }
  }
  return {
    heard,
    pager,
    mayHave,
    current,
    async open() {
      await store.write(({ channels }) => {
        const base = { minSeverity: "info" as const, apps: [], lines: false, createdAt: clock.now() };
        channels.put({ ...base, name: "hook", target: { type: "webhook", url: "https://hook.example/" } });
        channels.put({
          ...base,
          name: "pager",
          target: { type: "pagerduty", key: "k", url: "https://pager.example/" },
        });
      });
      start();
    },
    async play(one: Step) {
      if (one.do === "fire") await change(one.alert, "firing");
      else if (one.do === "end") await change(one.alert, "resolved");
      else if (one.do === "restart") await restart();
      else if (one.do === "fates") fates = [...one.fates];
      else
        for (let passed = 0; passed < one.minutes; passed += 30)
          await turns.advance(Math.min(one.minutes, 30) * 60_000);
      await look();
    },
    /** The receiver is well from now on, and everything that waits is sent. */
    async settle() {
      fates = [];
      await restart();
      for (let hour = 0; hour < 3; hour += 1) {
        await turns.advance(3_600_000);
        await look();
      }
    },
    async close() {
      stopping.abort();
      await ended;
      world.db.close();
    },
  };
}

test("the last message about an alert is its newest state, whatever the receiver and the server do", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      const it = scene();
      await it.open();
      for (const one of steps) await it.play(one);
      await it.settle();
      const firing = new Set(it.current.values());
      for (const [channel, list] of it.heard) {
        const over = new Set<string>();
        const known = new Set<string>();
        for (const { type, id } of list) {
          if (type === "ended") {
            over.add(id);
            expect(it.mayHave).toContain(`${channel} ${id}`);
          } else {
            expect(over).not.toContain(id);
            known.add(id);
          }
        }
        // It was never left open.
        expect([...known].filter((id) => !over.has(id) && !firing.has(id))).toEqual([]);
      }
      const groups = new Set([...it.current.keys()].map((alert) => `berth/vps1/group${alert % 2}`));
      for (const [key, action] of it.pager) if (!groups.has(key)) expect([key, action]).toEqual([key, "resolve"]);
      await it.close();
    }),
    { numRuns: Number(process.env.BERTH_TEST_CASES ?? 30) },
  );
}, 120_000);
