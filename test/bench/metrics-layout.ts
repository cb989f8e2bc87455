import { Database } from "bun:sqlite";
import { createRaw, encodeChunk } from "../../src/observability/core/metrics/chunk.ts";
import { slotsPerChunk } from "../../src/observability/core/metrics/tiers.ts";
import { createMetricWorld } from "../support/metric-world.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const pods = 20;
const hours = 3;

type Layout = (db: Database, hour: number, series: readonly Float64Array[]) => void;

/** Bytes per stored sample, as the size of the database file, beside a table with one row per sample. */
export async function run(): Promise<BenchRow[]> {
  const layouts: Record<string, Layout> = {
    "rows without rowid": rows,
    "chunks of floats": blobs((values) => new Uint8Array(values.buffer)),
    "chunks of floats, zstd": blobs((values) => Bun.zstdCompressSync(new Uint8Array(values.buffer))),
    "chunks of steps": blobs((values) => encodeChunk({ ...createRaw(), values })),
    "chunks of steps, zstd": blobs((values) => smaller(encodeChunk({ ...createRaw(), values }))),
  };
  const sizes = Object.entries(layouts).map(([name, layout]) => ({ name, bytes: bytesPerSample(layout) }));
  const baseline = sizes[0]?.bytes ?? Number.NaN;
  return sizes.map(({ name, bytes }) => ({
    name: `metrics: ${name}`,
    value: bytes,
    unit: "B/sample",
    baseline,
    ratio: bytes / baseline,
    wanted: name.startsWith("chunks of steps") ? "<= 0.2" : "-",
  }));
}

function bytesPerSample(layout: Layout): number {
  const db = new Database(":memory:");
  db.run("create table samples (series integer, at integer, value real, primary key (series, at)) without rowid");
  db.run("create table chunks (series integer, start integer, data blob, primary key (series, start)) without rowid");
  const world = createMetricWorld(pods);
  for (let hour = 0; hour < hours; hour++) {
    const series = world.names.map(() => createRaw().values);
    for (let slot = 0; slot < slotsPerChunk; slot++) {
      for (const [index, value] of world.next().entries()) series[index]?.fill(value, slot, slot + 1);
    }
    db.transaction(() => layout(db, hour, series))();
  }
  db.run("vacuum");
  const stored = db
    .query<{ samples: number; chunks: number }, []>(
      "select (select count(*) from samples) as samples, (select count(*) from chunks where length(data) > 0) as chunks",
    )
    .get();
  const chunks = hours * world.names.length;
  const all = layout === rows ? { samples: chunks * slotsPerChunk, chunks: 0 } : { samples: 0, chunks };
  mustBe("what was stored", stored, all);
  const pages = db.query<{ page_count: number }, []>("pragma page_count").get()?.page_count ?? 0;
  db.close();
  return (pages * 4_096) / (hours * slotsPerChunk * world.names.length);
}

function rows(db: Database, hour: number, series: readonly Float64Array[]): void {
  const insert = db.query("insert into samples values (?, ?, ?)");
  series.forEach((values, id) => {
    for (const [slot, value] of values.entries()) insert.run(id, (hour * slotsPerChunk + slot) * 15, value);
  });
}

function blobs(encode: (values: Float64Array) => Uint8Array): Layout {
  return (db, hour, series) => {
    const insert = db.query("insert into chunks values (?, ?, ?)");
    for (const [id, values] of series.entries()) insert.run(id, hour, encode(values));
  };
}

function smaller(bytes: Uint8Array): Uint8Array {
  const packed = Bun.zstdCompressSync(bytes, { level: 3 });
  return packed.length < bytes.length ? packed : bytes;
}

if (import.meta.main) console.table(await run());
