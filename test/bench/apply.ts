import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { deployment, fixtureImage } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { elapsed, median } from "./median.ts";
import { mustBe } from "./proof.ts";
import { must200, rawConnection } from "./raw-load.ts";
import type { BenchRow } from "./row.ts";

const perRound = 200;
const coldRounds = 7;
/** The engine still compiles for some 20,000 applies, on the core that the client needs: a server is soon past that. */
const warmRounds = 100;
const rounds = 15;
const connections = 16;

/** Durable applies through the whole server, against bare SQLite commits of the same rows on the same disk. */
export async function run(): Promise<BenchRow[]> {
  const berth = await rig();
  const bare = bareStore(join(berth.root, "bare.db"));
  try {
    return [...(await rows(berth, bare, storedOnly)), ...(await rows(berth, bare, rolledOut))];
  } finally {
    bare.close();
    await berth.close();
  }
}

async function rows(berth: Rig, bare: BareStore, subject: Subject): Promise<BenchRow[]> {
  await applyMany(berth, subject, { round: -1, side: 1 });
  const cold = await measure(berth, bare, { subject, from: 0, to: coldRounds });
  const warmed = coldRounds + warmRounds;
  for (let round = coldRounds; round < warmed; round++) await applyMany(berth, subject, { round, side: connections });
  const warm = await measure(berth, bare, { subject, from: warmed, to: warmed + rounds });
  const one = `apply of ${subject.name}: durable, sequential`;
  const many = `apply of ${subject.name}: durable, ${connections} connections`;
  return [
    row(one, { values: warm.one, baselines: warm.bare, wanted: ">= 0.3" }),
    row(many, { values: warm.many, baselines: warm.bare, wanted: ">= 1.0" }),
    row(`${one}, at first`, { values: cold.one, baselines: cold.bare, wanted: "for comparison" }),
    row(`${many}, at first`, { values: cold.many, baselines: cold.bare, wanted: "for comparison" }),
  ];
}

interface Measuring {
  subject: Subject;
  from: number;
  to: number;
}

/** Rates per second, one of each in every round. */
async function measure(berth: Rig, bare: BareStore, { subject, from, to }: Measuring) {
  const rates = { bare: [] as number[], one: [] as number[], many: [] as number[] };
  for (let round = from; round < to; round++) {
    rates.bare.push(rate(await elapsed(async () => bare.commitMany(round))));
    rates.one.push(rate(await applyMany(berth, subject, { round, side: 1 })));
    rates.many.push(rate(await applyMany(berth, subject, { round, side: connections })));
  }
  await requireStored(berth, subject, versionOf({ round: to - 1, side: connections }));
  bare.requireStored(to - 1);
  return rates;
}

interface Subject {
  name: string;
  manifest(round: number, index: number): Manifest;
}

/** What the last of all applies said is what stands. */
async function requireStored(berth: Rig, { manifest }: Subject, version: number): Promise<void> {
  const wanted = Array.from({ length: perRound }, (_, index) => manifest(version, index));
  const { kind, scope = "" } = wanted[0] ?? {};
  const { body } = await berth.call("GET", `/apply?kind=${kind}&scope=${scope}`);
  const environments = (all: Manifest[]) => Object.fromEntries(all.map(({ name, spec }) => [name, spec.env]));
  mustBe(`what is stored of ${kind}s`, environments(body.data as unknown as Manifest[]), environments(wanted));
}

/** A manifest row and an event row, as the bare store writes them. */
const storedOnly: Subject = {
  name: "a job",
  manifest: (round, index) => ({
    kind: "job",
    scope: "bench",
    name: `job${index}`,
    spec: { image: fixtureImage, env: environment(round) },
  }),
};

/** A release record too, and the reconciler's rounds meanwhile; no replicas, so that Docker itself stays out of it. */
const rolledOut: Subject = {
  name: "a deployment",
  manifest: (round, index) => deployment("bench", `app${index}`, { replicas: 0, env: environment(round) }),
};

function rate(ms: number): number {
  return (perRound / ms) * 1000;
}

function environment(round: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`KEY_${n}`, `${round} ${"x".repeat(20)}`]));
}

interface Load {
  round: number;
  /** Connections at the same time. */
  side: number;
}

const versionOf = ({ round, side }: Load) => round * 100 + side;

/**
 * Milliseconds for one apply each of `perRound` manifests. The requests are made beforehand and the answers are not
 * parsed: the baseline has no client either.
 */
async function applyMany(berth: Rig, { manifest }: Subject, load: Load): Promise<number> {
  const requests = Array.from({ length: perRound }, (_, index) => applyRequest(manifest(versionOf(load), index)));
  const socket = berth.endpoint.slice("unix:".length);
  const connections = await Promise.all(Array.from({ length: load.side }, () => rawConnection(socket)));
  const waiting = requests.values();
  const ms = await elapsed(() =>
    Promise.all(
      connections.map(async (connection) => {
        for (const request of waiting) must200(await connection.ask(request));
      }),
    ),
  );
  for (const connection of connections) connection.close();
  return ms;
}

function applyRequest(manifest: Manifest): Buffer {
  const body = JSON.stringify(manifest);
  const head = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  return Buffer.from(`POST /apply HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n${body}`);
}

interface BareStore {
  commitMany(round: number): void;
  requireStored(round: number): void;
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
  let committed = 0;
  return {
    requireStored(round) {
      const spec = JSON.stringify(storedOnly.manifest(round, 0).spec);
      const rows = db.query("select count(*) as rows from manifest where spec = ?").get(spec);
      mustBe("bare manifests of the last round", rows, { rows: perRound });
      mustBe("bare events", db.query("select count(*) as rows from event").get(), { rows: committed });
    },
    commitMany(round) {
      committed += perRound;
      for (let index = 0; index < perRound; index++) {
        const manifest = storedOnly.manifest(round, index);
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
