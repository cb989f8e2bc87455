import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Span } from "../../src/observability/core/traces/span.ts";
import { openTracesStore } from "../../src/observability/store/traces/traces-store.ts";
import { traceWorld } from "../support/trace-world.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const batches = 60;
/** As the batch processors of OpenTelemetry send them, and as an app with little to do does. */
const full = 512;
const small = 24;

/** Bytes per stored span, as the size of the database file, beside a table with one row per span. */
export async function run(): Promise<BenchRow[]> {
  const sizes = [
    { name: "a row per span", bytes: rows((text) => text) },
    { name: "a row per span, zstd", bytes: rows((text) => Bun.zstdCompressSync(text)) },
    { name: `a block per batch of ${full}, with a row per trace`, bytes: blocks(full) },
    { name: `a block per batch of ${small}, with a row per trace`, bytes: blocks(small) },
  ];
  const baseline = sizes[0]?.bytes ?? Number.NaN;
  return sizes.map(({ name, bytes }) => ({
    name: `traces: ${name}`,
    value: bytes,
    unit: "B/span",
    baseline,
    ratio: bytes / baseline,
    wanted: name.startsWith(`a block per batch of ${full}`) ? "<= 0.3" : "-",
  }));
}

function rows(pack: (text: string) => string | Uint8Array): number {
  const db = new Database(":memory:");
  db.run("create table spans (trace blob, id blob, at integer, data blob, primary key (trace, id)) without rowid");
  db.run("create index spans_at on spans (at)");
  const insert = db.query("insert into spans values (?, ?, ?, ?)");
  let spans = 0;
  const world = traceWorld();
  db.transaction(() => {
    for (let batch = 0; batch < batches; batch++)
      for (const { trace, id, ...span } of world.batch(full)) {
        spans += 1;
        insert.run(Uint8Array.fromHex(trace), Uint8Array.fromHex(id), span.atUs, pack(JSON.stringify(span)));
      }
  })();
  mustBe("spans that are stored", db.query("select count(*) as spans from spans").get(), { spans });
  const pages = db.query<{ page_count: number }, []>("pragma page_count").get()?.page_count ?? 0;
  db.close();
  return (pages * 4_096) / spans;
}

function blocks(size: number): number {
  const folder = mkdtempSync(join(tmpdir(), "traces-"));
  const store = openTracesStore(join(folder, "traces.db"), () => undefined);
  const world = traceWorld();
  let spans = 0;
  for (let batch = 0; batch < (batches * full) / size; batch++) {
    const sent: Span[] = world.batch(size);
    spans += sent.length;
    store.add({ scope: "shop", name: "web" }, batch, sent);
  }
  mustBe("spans that are stored", store.counts().spans, spans);
  const bytes = store.usedBytes();
  store.close();
  rmSync(folder, { recursive: true, force: true });
  return bytes / spans;
}
