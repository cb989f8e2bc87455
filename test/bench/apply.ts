import { Database } from "bun:sqlite";
import { join } from "node:path";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { elapsed, median } from "./median.ts";
import type { BenchRow } from "./row.ts";

const perRound = 200;
const rounds = 7;
const connections = 16;

/** Durable applies through the whole server, against bare SQLite commits of the same rows on the same disk. */
export async function run(): Promise<BenchRow[]> {
  const berth = await rig();
  const bare = bareStore(join(berth.root, "bare.db"));
  try {
    const rates = { bare: [] as number[], one: [] as number[], many: [] as number[] };
    await applyMany(berth, -1, 1);
    for (let round = 0; round < rounds; round++) {
      rates.bare.push(rate(await elapsed(async () => bare.commitMany(round))));
      rates.one.push(rate(await elapsed(() => applyMany(berth, round, 1))));
      rates.many.push(rate(await elapsed(() => applyMany(berth, round, connections))));
    }
    return [
      row("apply: durable, sequential", { values: rates.one, baselines: rates.bare, wanted: ">= 0.3" }),
      row(`apply: durable, ${connections} connections`, {
        values: rates.many,
        baselines: rates.bare,
        wanted: ">= 1.0",
      }),
    ];
  } finally {
    bare.close();
    await berth.close();
  }
}

function rate(ms: number): number {
  return (perRound / ms) * 1000;
}

/** No replicas: the figures are about storing, not about containers. */
function manifestOf(round: number, index: number) {
  const env = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`KEY_${n}`, `${round} ${"x".repeat(20)}`]));
  return deployment("bench", `app${index}`, { replicas: 0, env });
}

async function applyMany(berth: Rig, round: number, side: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < perRound; index = next++) {
      const answer = await berth.call("POST", "/apply", manifestOf(round * 10 + side, index));
      if (answer.status !== 200) throw new Error(`apply answered ${answer.status}: ${answer.body.error}`);
    }
  };
  await Promise.all(Array.from({ length: side }, worker));
}

interface BareStore {
  commitMany(round: number): void;
  close(): void;
}

/** The least that a durable apply must do: one manifest row and one event row, synced. */
function bareStore(path: string): BareStore {
  const db = new Database(path, { create: true });
  db.run("pragma journal_mode = wal");
  db.run("pragma synchronous = full");
  db.run("create table manifest (name text primary key, spec text not null) strict");
  db.run("create table event (seq integer primary key, detail text not null) strict");
  const put = db.query("insert into manifest values (?, ?) on conflict do update set spec = excluded.spec");
  const note = db.query("insert into event (detail) values (?)");
  const commit = db.transaction((name: string, spec: string) => {
    put.run(name, spec);
    note.run(`{"changed":["spec.env"],"name":"${name}"}`);
  });
  return {
    commitMany(round) {
      for (let index = 0; index < perRound; index++) {
        const manifest = manifestOf(round, index);
        commit(manifest.name, JSON.stringify(manifest.spec));
      }
    },
    close: () => db.close(),
  };
}

interface Series {
  values: number[];
  baselines: number[];
  wanted: string;
}

function row(name: string, { values, baselines, wanted }: Series): BenchRow {
  const ratio = median(values.map((value, round) => value / (baselines[round] ?? Number.NaN)));
  return { name, value: median(values), unit: "/s", baseline: median(baselines), ratio, wanted };
}
