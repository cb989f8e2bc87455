import { afterAll, beforeAll, test } from "bun:test";
import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import type { ManifestKey } from "../../src/orchestration/api/manifest.ts";
import type { RunRecord } from "../../src/orchestration/store/records.ts";
import type { Store } from "../../src/orchestration/store/store.ts";
import { cronKey, jobKey, runOf } from "../support/records.ts";
import { openTestStore, type TestRoot, testRoot } from "../support/store-root.ts";

let at: TestRoot;
let store: Store;
beforeAll(() => {
  at = testRoot();
  store = openTestStore(at);
});
afterAll(() => {
  store.close();
  at.remove();
});

const keys: ManifestKey[] = [cronKey, { ...cronKey, name: "hourly" }, jobKey];
const statuses: RunRecord["status"][] = [
  ...(["scheduled", "running", "succeeded", "failed"] as const),
  ...(["timed_out", "cancelled", "missed", "skipped"] as const),
];

type Act =
  { type: "put"; run: RunRecord } | { type: "trim"; key: ManifestKey; keep: { succeeded: number; failed: number } };

/** Few ids, instants and resources, so that they meet. The id says which resource it is of. */
const put = fc
  .record({
    owner: fc.nat({ max: keys.length - 1 }),
    number: fc.nat({ max: 5 }),
    status: fc.constantFrom(...statuses),
    instant: fc.option(fc.nat({ max: 4 }), { nil: undefined }),
    attempt: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ owner, number, ...fields }): Act => ({
    type: "put",
    run: runOf(`${owner}-${number}`, { ...keys[owner], ...fields }),
  }));
const trim = fc
  .record({
    key: fc.constantFrom(...keys),
    keep: fc.record({ succeeded: fc.nat({ max: 2 }), failed: fc.nat({ max: 2 }) }),
  })
  .map((fields): Act => ({ type: "trim", ...fields }));

/** What the store promises, in the plainest form: runs in the order in which they were first put. */
function createModel() {
  let runs: RunRecord[] = [];
  const last = new Map<string, number>();
  const of = (key: ManifestKey) => runs.filter(({ kind, name }) => kind === key.kind && name === key.name);
  const isOpen = ({ status }: RunRecord) => status === "scheduled" || status === "running";
  return {
    put(run: RunRecord): boolean {
      if (run.instant !== undefined && of(run).some(({ id, instant }) => id !== run.id && instant === run.instant)) {
        return false;
      }
      const index = runs.findIndex(({ id }) => id === run.id);
      if (index === -1) runs.push(run);
      else runs[index] = run;
      const high = Math.max(last.get(run.name) ?? -1, run.instant ?? -1);
      if (high >= 0) last.set(run.name, high);
      return true;
    },
    trim(key: ManifestKey, keep: { succeeded: number; failed: number }): string[] {
      const newest = of(key).reverse();
      const succeeded = newest.filter(({ status }) => status === "succeeded").slice(keep.succeeded);
      const failed = newest.filter((run) => !isOpen(run) && run.status !== "succeeded").slice(keep.failed);
      const gone = [...succeeded, ...failed].map(({ id }) => id);
      runs = runs.filter(({ id }) => !gone.includes(id));
      return gone;
    },
    list: (key: ManifestKey) => of(key).reverse(),
    unfinished: () => runs.filter(isOpen),
    lastInstant: (key: ManifestKey) => last.get(key.name),
  };
}

class Undo extends Error {}

/** Lets the store go through `acts` inside one change, checks it against the model after each, and undoes it all. */
async function compare(acts: Act[]): Promise<void> {
  const model = createModel();
  const change = store.write((tx) => {
    for (const act of acts) {
      if (act.type === "put") deepStrictEqual(tx.runs.put(act.run), model.put(act.run));
      else deepStrictEqual(tx.runs.trim(act.key, act.keep).sort(), model.trim(act.key, act.keep).sort());
      deepStrictEqual(tx.runs.unfinished(), model.unfinished());
      for (const key of keys) {
        deepStrictEqual(tx.runs.list(key), model.list(key));
        deepStrictEqual(tx.runs.lastInstant(key), model.lastInstant(key));
      }
    }
    throw new Undo();
  });
  await change.catch((error: unknown) => {
    if (!(error instanceof Undo)) throw error;
  });
}

test("runs behave as a plain list that knows each instant once", async () => {
  const acts = fc.array(fc.oneof({ weight: 4, arbitrary: put }, trim), { maxLength: 30 });
  await fc.assert(fc.asyncProperty(acts, compare), { numRuns: 150 });
});
