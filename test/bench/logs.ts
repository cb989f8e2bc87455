import { mkdirSync, mkdtempSync, rmSync, statSync, writeSync, openSync, closeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logLimits } from "../../src/config/log-limits.ts";
import { createCapture } from "../../src/observability/collect/logs/capture.ts";
import { compileQuery } from "../../src/observability/core/logs/query.ts";
import { type LogStore, openLogStore } from "../../src/observability/store/logs/log-store.ts";
import { searchLines } from "../../src/observability/store/logs/search.ts";
import { silentLog } from "../support/silent-log.ts";
import { median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

/** BERTH_BENCH_LINES=10000000 is the size that the figures of the decision are from. */
const lines = Number(process.env.BERTH_BENCH_LINES ?? 1_000_000);
const pods = 8;
const apps = 4;
const rounds = 3;

/** Reading, packing and searching the output of pods, beside zstd and zstdgrep over the same lines. */
export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-logs-"));
  try {
    const { needle } = writeLogs(folder);
    const packed = packByZstd(folder);
    const captured = await captureAll(folder);
    const { store } = captured;
    const { bytes, rawBytes, lines: stored } = store.state();
    mustBe("lines that are stored", stored, lines);
    const rare = timed(() => mustBe("lines with the id", countFirst(store, needle, 10), 1));
    const common = timed(() => mustBe("lines with the word", countFirst(store, "payment level>=error", 100), 100));
    const absent = timed(() => mustBe("lines with no id", countFirst(store, "0123456789abcdef", 10), 0));
    const part = `/${needle.slice(0, 6)}[0-9a-f]{10}/`;
    const pattern = timed(() => mustBe("whether lines have the part", countFirst(store, part, 10) > 0, true));
    const grep = timed(() => mustBe("lines that zstdgrep finds", grepped(folder, needle), 1));
    return [
      row(
        "logs: lines read, packed and stored in a second",
        captured.perSecond,
        "lines/s",
        packed.perSecond,
        "value >= 50000",
      ),
      row(
        "logs: processor time of that, cores at 50,000 lines/s",
        captured.cores * (50_000 / captured.perSecond),
        "cores",
        1,
        "value <= 1",
      ),
      row("logs: stored bytes for each byte of output", bytes / rawBytes, "bytes", packed.ratio, "value <= 0.15"),
      row("logs: an id that is in one line", rare, "ms", grep, "value <= 300"),
      row("logs: an id that is in no line", absent, "ms", grep, "value <= 300"),
      row("logs: a part of an id, as an expression", pattern, "ms", grep, "ratio <= 1"),
      row("logs: a word of many lines, the newest 100", common, "ms", grep, "value <= 300"),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function row(name: string, value: number, unit: string, baseline: number, wanted: string): BenchRow {
  return { name: `${name} (${lines} lines)`, value, unit, baseline, ratio: value / baseline, wanted };
}

function timed(work: () => void): number {
  return median(
    Array.from({ length: rounds }, () => {
      const begun = performance.now();
      work();
      return performance.now() - begun;
    }),
  );
}

/** How many of the newest lines with `text` were found, up to `limit`. */
function countFirst(store: LogStore, text: string, limit: number): number {
  const search = searchLines(store, { query: compileQuery({ text, apps: [] }), order: "desc", limit }, () => false);
  for (;;) {
    const { done, value } = search.next();
    if (done === true) return value.lines.length;
  }
}

function grepped(folder: string, needle: string): number {
  const { stdout } = Bun.spawnSync(["sh", "-c", `zstdgrep -F ${needle} plain.zst`], { cwd: folder });
  return stdout.toString().split("\n").filter(Boolean).length;
}

async function captureAll(folder: string) {
  const now = () => startMs + lines * 2;
  const limits = { ...logLimits.store, bytesMax: 1e12, appBytesMax: 1e12, blockMs: 1e9 };
  const store = openLogStore({ folder: join(folder, "store"), limits, log: silentLog, now });
  const sampling = { ...logLimits.capture, linesPerSecond: 1e9, linesAtOnce: 1e9 };
  const capture = createCapture({
    sink: store,
    limits: sampling,
    log: silentLog,
    now,
    steady: () => performance.now(),
  });
  capture.watch(
    Array.from({ length: pods }, (_, pod) => ({
      app: { scope: "bench", name: `app-${pod % apps}` },
      source: { id: `container-${pod}`, pod: `bench-app.${pod}`, replica: String(pod), release: "r1", role: "" },
      path: join(folder, `${pod}-json.log`),
      running: true,
    })),
  );
  const begun = performance.now();
  const used = process.cpuUsage();
  while (capture.turn()) {
    store.flush({});
    await Bun.sleep(0);
  }
  store.flush({ all: true });
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(used);
  capture.close();
  return { store, perSecond: lines / seconds, cores: (user + system) / 1e6 / seconds };
}

function packByZstd(folder: string): { perSecond: number; ratio: number } {
  const begun = performance.now();
  const { exitCode } = Bun.spawnSync(["zstd", "-q", "-9", "-T1", "plain", "-o", "plain.zst"], { cwd: folder });
  mustBe("exit code of zstd", exitCode, 0);
  const seconds = (performance.now() - begun) / 1_000;
  const size = (name: string) => statSync(join(folder, name)).size;
  return { perSecond: lines / seconds, ratio: size("plain.zst") / size("plain") };
}

const startMs = 1_700_000_000_000;
const texts = [
  "request completed",
  "cache miss",
  "query executed",
  "user signed in",
  "payment accepted",
  "retrying upstream",
];
const paths = ["/api/orders", "/api/users", "/api/cart", "/health", "/api/products/", "/login"];

/** What typical servers write: JSON with a time, a level, a request and an id of it. */
function writeLogs(folder: string): { needle: string } {
  mkdirSync(folder, { recursive: true });
  const random = createRandom(7);
  const pick = <T>(from: readonly T[]): T => from[random() % from.length] as T;
  const files = Array.from({ length: pods }, (_, pod) => openSync(join(folder, `${pod}-json.log`), "w"));
  const plain = openSync(join(folder, "plain"), "w");
  const waiting = files.map((): string[] => []);
  const all: string[] = [];
  let needle = "";
  const flush = () => {
    for (const [at, file] of files.entries()) {
      writeSync(file, waiting[at]?.join("") ?? "");
      waiting[at] = [];
    }
    writeSync(plain, all.join(""));
    all.length = 0;
  };
  for (let line = 0; line < lines; line++) {
    const at = new Date(startMs + line + (random() % 3)).toISOString();
    const id = hex(random(), 8) + hex(random(), 8);
    if (line === Math.floor(lines / 3)) needle = id;
    const path = pick(paths) + (random() % 2 === 0 ? "" : String(random() % 10_000));
    const text = JSON.stringify({
      time: at,
      level: pick(["info", "info", "info", "debug", "warn", "error"]),
      msg: pick(texts),
      method: pick(["GET", "POST"]),
      path,
      status: pick([200, 200, 200, 404, 500]),
      duration_ms: (random() % 1_000) / 10,
      request_id: id,
      user_id: random() % 100_000,
    });
    const time = at.replace("Z", `${String(random() % 1_000_000).padStart(6, "0")}Z`);
    waiting[random() % pods]?.push(`${JSON.stringify({ log: `${text}\n`, stream: "stdout", time })}\n`);
    all.push(`${text}\n`);
    if (line % 20_000 === 0) flush();
  }
  flush();
  for (const file of [...files, plain]) closeSync(file);
  return { needle };
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0").slice(-digits);
}

/** Marsaglia's xorshift: the same lines in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
