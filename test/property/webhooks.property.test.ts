import { expect, test } from "bun:test";
import fc from "fast-check";
import { draftWebhooks } from "../../src/orchestration/core/webhooks.ts";
import { decodeWebhooks } from "../../src/orchestration/core/spec/webhooks.ts";
import { decideProbeCall, type ProbeCall } from "../../src/orchestration/core/probe-webhooks.ts";

test("a JSON body stays JSON and says the value, whatever the value holds", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (error) => {
      const [made] = draftWebhooks({
        event: "deploy.failure",
        hooks: decodeWebhooks([{ url: "https://a.test/", body: { text: "<{{error}}>" } }]),
        payload: { error: error.toWellFormed() },
        templates: new Map(),
        bodyBytesMax: 1_000_000,
      });
      expect(JSON.parse(made?.body ?? "")).toEqual({ text: `<${error.toWellFormed()}>` });
    }),
    { numRuns: 300 },
  );
});

test("header values are visible ASCII, whatever is filled in", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (error) => {
      const [made] = draftWebhooks({
        event: "deploy.failure",
        hooks: decodeWebhooks([{ url: "https://a.test/", headers: { A: "<{{error}}>" } }]),
        payload: { error },
        templates: new Map(),
        bodyBytesMax: 1_000_000,
      });
      expect(made?.headers.A).toMatch(/^[\x20-\x7e]*$/);
    }),
    { numRuns: 300 },
  );
});

type Transition = ProbeCall["transition"];

/** Plays the outbox: what is due is sent at once. */
function play(steps: readonly { afterMs: number; transition: Transition }[]) {
  let calls: ProbeCall[] = [];
  const sent: { transition: Transition; at: number }[] = [];
  let now = 0;
  const flush = () => {
    for (const call of [...calls].reverse()) {
      if (call.status !== "waiting" || call.nextAt > now) continue;
      sent.push({ transition: call.transition, at: call.nextAt });
      calls = calls.map((one) => (one === call ? { ...call, status: "delivered", attempts: 1 } : one));
    }
  };
  for (const { afterMs, transition } of steps) {
    now += afterMs;
    flush();
    const { sendAt, cancel } = decideProbeCall(calls, transition, now);
    calls = calls.map((call) => (cancel.includes(call.id) ? { ...call, status: "dropped" } : call));
    if (sendAt === undefined) continue;
    calls = [{ id: `${now}/${calls.length}`, transition, status: "waiting", attempts: 0, nextAt: sendAt }, ...calls];
    flush();
  }
  now += 120_000;
  flush();
  return sent;
}

test("receivers see failure and recovery in turn, beginning with a failure, and end up knowing the truth", () => {
  const step = fc.record({
    afterMs: fc.integer({ min: 1, max: 90_000 }),
    transition: fc.constantFrom<Transition>("failure", "recovery"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const sent = play(steps);
      const turns = sent.map((_, index) => (index % 2 === 0 ? "failure" : "recovery"));
      expect(sent.map(({ transition }) => transition)).toEqual(turns);
      for (const transition of ["failure", "recovery"] as const) {
        const times = sent.filter((one) => one.transition === transition).map(({ at }) => at);
        const tooSoon = times.slice(1).filter((at, index) => at - (times[index] ?? 0) < 60_000);
        expect(tooSoon).toEqual([]);
      }
      const ever = steps.some(({ transition }) => transition === "failure");
      const last = steps.at(-1)?.transition;
      if (last === "failure" || sent.length > 0) expect(sent.at(-1)?.transition).toBe(last);
      if (!ever) expect(sent).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
