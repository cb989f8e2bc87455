import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ReleaseRecord } from "../../src/orchestration/store/store.ts";
import { releaseOf, webKey } from "../support/records.ts";
import { openTestStore, testLimits, testRoot } from "../support/store-root.ts";

const statuses = ["pending", "running", "succeeded", "failed"] as const;

/** One write: releases by number, each with a status; `fails` undoes all of it. */
const write = fc.record({
  puts: fc.array(
    fc.record({
      number: fc.nat({ max: 9 }),
      status: fc.constantFrom<ReleaseRecord["status"]>(...statuses),
      good: fc.boolean(),
      name: fc.constantFrom("web", "db"),
      hash: fc.constantFrom("h1", "h2", "h3", "h4"),
      keepsSpec: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  fails: fc.boolean(),
});

test("the history in memory is the one on the disk, and keeps what it promises", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 12 }), async (writes) => {
      const at = testRoot();
      let store = openTestStore(at);
      try {
        for (const { puts, fails } of writes) {
          const done = store.write((tx) => {
            for (const { number, name, keepsSpec, ...more } of puts) {
              const id = `${name}${number}`;
              const known = tx.releases.get(id);
              const fresh = releaseOf(id, { name, ...more, spec: { image: `app:${number}` } });
              tx.releases.put(known !== undefined && keepsSpec ? { ...fresh, spec: known.spec } : fresh);
            }
            if (fails) throw new Error("undone");
          });
          await done.catch(() => undefined);
        }
        const keys = [webKey, { ...webKey, name: "db" }];
        const inMemory = keys.map((key) => store.releases.list(key));
        store.close();
        store = openTestStore(at);
        expect(keys.map((key) => store.releases.list(key))).toEqual(inMemory);
        for (const history of inMemory) {
          const trimmable = history.filter(({ status }) => status === "succeeded" || status === "failed");
          expect(trimmable.length).toBeLessThanOrEqual(2 * testLimits.releasesKept);
        }
      } finally {
        store.close();
        at.remove();
      }
    }),
    { numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 50), 1_000) },
  );
});
