import { expect, test } from "bun:test";
import fc from "fast-check";
import { identityLimits } from "../../src/config/config.ts";
import type { TokenPair } from "../../src/identity/service/refresh.ts";
import { type IdentityWorld, identityWorld, withPublishable } from "../support/identity.ts";

/** What a client, an impatient network and a thief may do with the tokens of one session, oldest first. */
type Step = { kind: "refresh"; age: number } | { kind: "wait"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("refresh" as const), age: fc.constantFrom(0, 0, 0, 1, 1, 2, 3) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 15_000, 29_999, 30_000) }),
  },
);

/** The rule, without hashes or rows: each token knows when it was spent, and when it was shared last. */
function createModel() {
  // The sign-in token, spent at the start, comes first.
  const spentAt: (number | undefined)[] = [0, undefined];
  let sharedAt = Number.NEGATIVE_INFINITY;
  let ended = false;
  return {
    /** Index of the token that the answer holds; undefined for a refusal. */
    refresh(index: number, now: number): number | undefined {
      if (ended) return undefined;
      const newest = spentAt.length - 1;
      const spent = spentAt[index];
      const isHeld = now < sharedAt + 30_000 && now < (spentAt[newest - 1] ?? 0) + 600_000;
      if (spent === undefined && !isHeld) {
        spentAt[index] = now;
        spentAt.push(undefined);
        sharedAt = Number.NEGATIVE_INFINITY;
        return index + 1;
      }
      if (spent === undefined || now < spent + 30_000) {
        sharedAt = now;
        return newest;
      }
      ended = true;
      return undefined;
    },
    newest: () => spentAt.length - 1,
  };
}

test("a session goes on exactly as long as none of its tokens is used against the rule", async () => {
  const it = identityWorld({ rates: generous() });
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) => run(it, steps)),
      { numRuns: 60 },
    );
  } finally {
    it.close();
  }
});

async function run(it: IdentityWorld, steps: Step[]): Promise<void> {
  const shop = await it.tenant();
  const post = (path: string, body: object) =>
    it.ask(`POST /api/v1/sessions/${path}`, { headers: withPublishable(shop), body });
  const { token } = await it.signedIn(shop);
  const tokens: (string | undefined)[] = [
    undefined,
    ((await post("exchange", { token })).json as TokenPair).refresh_token,
  ];
  const model = createModel();
  const start = it.clock.now();
  for (const one of steps) {
    if (one.kind === "wait") {
      it.clock.moveTo(it.clock.now() + one.ms);
      continue;
    }
    const index = Math.max(1, model.newest() - one.age);
    const expected = model.refresh(index, it.clock.now() - start);
    const answer = await post("refresh", { refresh_token: tokens[index] });
    expect(answer.status).toBe(expected === undefined ? 401 : 200);
    if (expected === undefined) continue;
    const given = (answer.json as TokenPair).refresh_token;
    tokens[expected] ??= given;
    expect(given).toBe(tokens[expected]);
  }
  expect(new Set(tokens).size).toBe(tokens.length);
}

/** Numbers from 0 to 1 that follow from a seed (Marsaglia's xorshift). */
function numbersFrom(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

interface Tabs {
  seed: number;
  /** From reload to reload, about. */
  gapMs: number;
  /** Within this time all tabs of a round are reloaded. */
  withinMs: number;
  /** Longest way of a request, and of an answer. */
  latencyMs: number;
}

/** A browser with ten tabs that keep one token in one place: each reads it when it is reloaded, and writes what it gets. */
async function reload(it: IdentityWorld, { seed, gapMs, withinMs, latencyMs }: Tabs): Promise<number[]> {
  const random = numbersFrom(seed);
  const shop = await it.tenant();
  const post = (path: string, body: object) =>
    it.ask(`POST /api/v1/sessions/${path}`, { headers: withPublishable(shop), body });
  const { token } = await it.signedIn(shop);
  let kept = ((await post("exchange", { token })).json as TokenPair).refresh_token;
  const refusals: number[] = [];
  let next: { at: number; run: () => void | Promise<void> }[] = [];
  const at = (ms: number, run: () => void | Promise<void>) => next.push({ at: ms, run });
  const reloadTab = (start: number) => {
    const mine = kept;
    const arrives = start + random() * latencyMs;
    at(arrives, async () => {
      const { status, json } = await post("refresh", { refresh_token: mine });
      if (status !== 200) refusals.push(status);
      else {
        at(arrives + random() * latencyMs, () => {
          kept = (json as TokenPair).refresh_token;
        });
      }
    });
  };
  for (let round = 0; round < 50 && refusals.length === 0; round++) {
    const begin = it.clock.now() + gapMs * (0.5 + random());
    for (let tab = 0; tab < 10; tab++) {
      const start = begin + random() * withinMs;
      at(start, () => reloadTab(start));
    }
    while (next.length > 0) {
      const [first, ...rest] = next.toSorted((a, b) => a.at - b.at);
      next = rest;
      it.clock.moveTo(Math.max(it.clock.now(), Math.round(first?.at ?? 0)));
      await first?.run();
    }
  }
  return refusals;
}

test("ten tabs that are reloaded again and again lose no session, whatever the network does", async () => {
  const it = identityWorld({ rates: generous() });
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          seed: fc.integer({ min: 1 }),
          gapMs: fc.constantFrom(1_000, 30_000, 900_000),
          withinMs: fc.constantFrom(100, 2_000),
          latencyMs: fc.constantFrom(200, 2_000),
        }),
        async (tabs) => expect(await reload(it, tabs)).toEqual([]),
      ),
      { numRuns: 4 },
    );
  } finally {
    it.close();
  }
});

function generous() {
  const open = { max: 1_000_000, perMs: 1 };
  const { rates } = identityLimits;
  return {
    ...rates,
    rates: Object.fromEntries(Object.keys(rates.rates).map((bucket) => [bucket, open])),
    lockout: { free: 5, firstMs: 1, maxMs: 1 },
    keysMax: 10,
  };
}
