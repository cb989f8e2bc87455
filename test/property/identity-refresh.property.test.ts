import { expect, test } from "bun:test";
import fc from "fast-check";
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

/** The rule, without hashes or rows: each token knows when it was spent. */
function createModel() {
  const spentAt: (number | undefined)[] = [undefined];
  let ended = false;
  return {
    /** Index of the token that the answer holds; undefined for a refusal. */
    refresh(index: number, now: number): number | undefined {
      if (ended) return undefined;
      const spent = spentAt[index];
      if (spent === undefined) {
        spentAt[index] = now;
        spentAt.push(undefined);
        return index + 1;
      }
      if (now < spent + 30_000 && spentAt[index + 1] === undefined) return index + 1;
      ended = true;
      return undefined;
    },
    count: () => spentAt.length,
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
  const tokens = [((await post("exchange", { token })).json as TokenPair).refresh_token];
  const model = createModel();
  for (const one of steps) {
    if (one.kind === "wait") {
      it.clock.moveTo(it.clock.now() + one.ms);
      continue;
    }
    const index = Math.max(0, model.count() - 1 - one.age);
    const expected = model.refresh(index, it.clock.now());
    const answer = await post("refresh", { refresh_token: tokens[index] });
    expect(answer.status).toBe(expected === undefined ? 401 : 200);
    if (expected === undefined) continue;
    const given = (answer.json as TokenPair).refresh_token;
    tokens[expected] ??= given;
    expect(given).toBe(tokens[expected]);
  }
  expect(new Set(tokens).size).toBe(tokens.length);
}

function generous() {
  const rate = { max: 1_000_000, perMs: 1 };
  return {
    rates: {
      sign_in: rate,
      sign_in_account: rate,
      sign_up: rate,
      reset: rate,
      reset_account: rate,
      refresh: rate,
      exchange: rate,
      wrong_key: rate,
    },
    lockout: { free: 5, firstMs: 1, maxMs: 1 },
    keysMax: 10,
  };
}
