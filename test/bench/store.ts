import { join } from "node:path";
import { openDatabase } from "../../src/base/sqlite/database.ts";
import { stateMigrations } from "../../src/orchestration/store/migrations/all.ts";
import type { Store } from "../../src/orchestration/store/store.ts";
import { openTestStore, testRoot } from "../support/store-root.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const transactions = 400;
const rounds = 15;
const writers = 16;
const resources = 10_000;
const names = 200;

/** Durable puts against the same transaction on a bare connection, interleaved; and the cost of a full listing. */
export async function run(): Promise<BenchRow[]> {
  const at = testRoot();
  const store = openTestStore(at);
  const bare = openBare(join(at.root, "bare.db"));
  try {
    bare.run(-1);
    await putAll(store, -1, 1);
    const rates = { bare: [] as number[], one: [] as number[], many: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.bare.push(await perSecond(() => bare.run(round)));
      rates.one.push(await perSecond(() => putAll(store, round, 1)));
      rates.many.push(await perSecond(() => putAll(store, round, writers)));
    }
    const done = transactions * (1 + rounds);
    mustBe("bare rows", bare.state(), { events: done, names, last: lastSpec(rounds - 1) });
    mustBe("events that were written", store.events.list({ limit: 1 })[0]?.seq, done + transactions * rounds);
    const stored = store.manifests.list({ scope: "bench" });
    const last = lastSpec((rounds - 1) * 100 + writers);
    mustBe("rows", [stored.length, stored.find(({ name }) => name === lastName)?.spec], [names, last]);
    return [
      rateRow("store: put + event, one writer", rates.one, rates.bare, ">= 0.8"),
      rateRow(`store: put + event, ${writers} writers`, rates.many, rates.bare, ">= 2"),
      await headsRow(store),
    ];
  } finally {
    bare.close();
    store.close();
    at.remove();
  }
}

/** The ratio is the median of the rounds' ratios: the disk's speed drifts more than a round lasts. */
function rateRow(name: string, values: number[], baselines: number[], wanted: string): BenchRow {
  const ratio = median(values.map((value, round) => value / (baselines[round] ?? Number.NaN)));
  return { name, value: median(values), unit: "transactions/s", baseline: median(baselines), ratio, wanted };
}

/** About 1 KB, different in every round: SQLite does not write a row that is the same already. */
function specOf(index: number, round: number) {
  const env = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`KEY_${n}`, `value ${n} ${"x".repeat(20)}`]));
  return { image: `registry.test/app:${round}-${index}`, replicas: 3, ports: ["8080"], env };
}

const lastName = `app-${(transactions - 1) % names}`;
const lastSpec = (round: number) => specOf(transactions - 1, round);

/** The same tables, indexes and rows, written by two prepared statements in a loop. */
function openBare(file: string) {
  const db = openDatabase(file, stateMigrations);
  const put = db.query<unknown, [string, string, number, number]>(
    "insert into manifests (kind, scope, name, spec, sealed, revision, generation, created_at, updated_at)" +
      " values ('deployment', 'bench', ?, ?, 0, ?, 1, 1, ?) on conflict (kind, scope, name)" +
      " do update set spec = excluded.spec, revision = excluded.revision, updated_at = excluded.updated_at",
  );
  const append = db.query<unknown, [number, string, number, string]>(
    "insert into events (at, actor, action, kind, scope, name, revision, detail)" +
      " values (?, 'bench', 'manifest.apply', 'deployment', 'bench', ?, ?, ?)",
  );
  const transaction = db.transaction((index: number, round: number) => {
    const name = `app-${index % names}`;
    put.run(name, JSON.stringify(specOf(index, round)), index, index);
    append.run(index, name, index, JSON.stringify({ changed: ["spec.image"] }));
  });
  return {
    close: () => db.close(),
    state() {
      const query = "select (select count(*) from events) as events, count(*) as names from manifests";
      const counts = db.query<{ events: number; names: number }, []>(query).get();
      const last = db.query<{ spec: string }, [string]>("select spec from manifests where name = ?").get(lastName);
      return { ...counts, last: JSON.parse(last?.spec ?? "null") };
    },
    run(round: number) {
      for (let index = 0; index < transactions; index++) transaction.immediate(index, round);
    },
  };
}

async function putAll(store: Store, round: number, lanes: number): Promise<void> {
  const lane = async (first: number) => {
    for (let index = first; index < transactions; index += lanes) await put(store, index, round * 100 + lanes);
  };
  await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)));
}

function put(store: Store, index: number, round: number): Promise<number> {
  return store.write((tx) => {
    const name = `app-${index % names}`;
    const key = { kind: "deployment" as const, scope: "bench", name };
    const { revision } = tx.manifests.put({ ...key, spec: specOf(index, round) }, index).manifest;
    const detail = { changed: ["spec.image"] };
    return tx.events.append({ actor: "bench", action: "manifest.apply", ...key, revision, detail }, index);
  });
}

async function headsRow(store: Store): Promise<BenchRow> {
  await store.write((tx) => {
    for (let index = 0; index < resources; index++) {
      const manifest = { kind: "job" as const, scope: "many", name: `job-${index}`, spec: specOf(index, 0) };
      tx.manifests.put(manifest, index);
    }
  });
  const rows = resources + names;
  mustBe("heads and rows", [store.manifests.heads().length, store.manifests.list().length], [rows, rows]);
  const heads = median(Array.from({ length: 9 }, () => elapsed(() => store.manifests.heads())));
  const list = median(Array.from({ length: 3 }, () => elapsed(() => store.manifests.list())));
  const name = `store: heads of ${resources}, against a whole list`;
  return { name, value: heads, unit: "ms", baseline: list, ratio: heads / list, wanted: "<= 0.3" };
}

function elapsed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

async function perSecond(work: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return transactions / ((performance.now() - start) / 1_000);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

if (import.meta.main) console.table(await run());
