import { afterEach, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logLimits } from "../../../../../src/config/log-limits.ts";
import {
  type Capture,
  type CaptureLimits,
  createCapture,
} from "../../../../../src/observability/collect/logs/capture.ts";
import { compileQuery } from "../../../../../src/observability/core/logs/query.ts";
import { type LogStore, openLogStore } from "../../../../../src/observability/store/logs/log-store.ts";
import { searchLines } from "../../../../../src/observability/store/logs/search.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { waitFor } from "../../../../support/wait.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const startMs = Date.UTC(2026, 0, 31, 13);
let serial = 0;
const entry = (text: string) =>
  `${JSON.stringify({ log: `${text}\n`, stream: "stdout", time: new Date(startMs + serial++).toISOString() })}\n`;

function world() {
  const folder = mkdtempSync(join(tmpdir(), "capture-"));
  folders.push(folder);
  const path = join(folder, "c-json.log");
  writeFileSync(path, "");
  let steady = 0;
  const container = (running = true, id = "c", file = path) => ({
    app: { scope: "shop", name: "web" },
    source: { id, pod: `shop-web.${id}`, replica: id, release: "r1", role: "" },
    path: file,
    running,
  });
  const open = (changes: Partial<CaptureLimits> = {}, setBy = 0): { store: LogStore; capture: Capture } => {
    const now = () => startMs + 60_000 + setBy;
    const store = openLogStore({ folder: join(folder, "store"), limits: logLimits.store, log: silentLog, now });
    const capture = createCapture({
      sink: store,
      limits: { ...logLimits.capture, ...changes },
      log: silentLog,
      now,
      steady: () => (steady += 1_500),
    });
    return { store, capture };
  };
  return { path, container, open, folder };
}

function texts(store: LogStore): string[] {
  const search = searchLines(store, { query: compileQuery({ apps: [] }), order: "asc", limit: 100_000 }, () => false);
  let step = search.next();
  while (step.done !== true) step = search.next();
  return step.value.lines.map(({ text }) => text);
}

function readAll(capture: Capture): void {
  while (capture.turn());
}

/** As Docker does it. */
function rotate(path: string): void {
  renameSync(`${path}.1`, `${path}.2`);
}

test("a server that is killed reads on where its last block ended: no line is lost, none comes twice", () => {
  const { path, container, open } = world();
  const first = open();
  first.capture.watch([container()]);
  appendFileSync(path, entry("one") + entry("two"));
  readAll(first.capture);
  first.store.flush({ all: true });
  appendFileSync(path, entry("three"));
  readAll(first.capture);
  expect(texts(first.store)).toEqual(["one", "two", "three"]);
  // Killed: "three" was read, and is not on disk.
  const second = open();
  expect(texts(second.store)).toEqual(["one", "two"]);
  second.capture.watch([container()]);
  appendFileSync(path, entry("four"));
  readAll(second.capture);
  expect(texts(second.store)).toEqual(["one", "two", "three", "four"]);
});

test("a server that is killed again and again in one hour, and with its clock set back, goes on at its newest block", () => {
  const { path, container, open } = world();
  for (let life = 0; life < 12; life += 1) {
    const { store, capture } = open({}, -(life % 3) * 3_600_000);
    capture.watch([container()]);
    appendFileSync(path, entry(`life ${life}`));
    readAll(capture);
    store.flush({ all: true });
  }
  expect(texts(open().store)).toEqual(Array.from({ length: 12 }, (_, life) => `life ${life}`));
});

test("files that Docker changes meanwhile are read to their end, while running and while away", () => {
  const { path, container, open } = world();
  const first = open();
  first.capture.watch([container()]);
  appendFileSync(path, entry("one"));
  readAll(first.capture);
  appendFileSync(path, entry("two"));
  renameSync(path, `${path}.1`);
  writeFileSync(path, entry("three"));
  readAll(first.capture);
  expect(texts(first.store)).toEqual(["one", "two", "three"]);
  first.store.flush({ all: true });
  appendFileSync(path, entry("four"));
  rotate(path);
  renameSync(path, `${path}.1`);
  writeFileSync(path, entry("five"));
  const second = open();
  second.capture.watch([container()]);
  readAll(second.capture);
  expect(texts(second.store)).toEqual(["one", "two", "three", "four", "five"]);
});

test("lines that Docker deleted before they were read are named as missing", () => {
  const { path, container, open } = world();
  const first = open();
  first.capture.watch([container()]);
  appendFileSync(path, entry("one"));
  readAll(first.capture);
  first.store.flush({ all: true });
  first.capture.close();
  rmSync(path);
  writeFileSync(path, entry("nine"));
  const second = open();
  second.capture.watch([container()]);
  readAll(second.capture);
  expect(texts(second.store)).toEqual([
    "one",
    expect.stringMatching(/^lines since .* are missing: Docker deleted them/),
    "nine",
  ]);
});

test("what a removed container wrote last is read from the file that is held open", () => {
  const { path, container, open } = world();
  const { store, capture } = open();
  capture.watch([container()]);
  appendFileSync(path, entry("one"));
  readAll(capture);
  appendFileSync(path, entry("last"));
  rmSync(path);
  capture.watch([]);
  readAll(capture);
  expect(texts(open().store)).toEqual(["one", "last"]);
  expect(capture.state().containers).toBe(0);
  expect(store.state().waitingLines).toBe(0);
});

test("drain puts on disk what a container wrote, whether or not it was due", () => {
  const { path, container, open } = world();
  const { capture } = open();
  capture.watch([container()]);
  appendFileSync(path, entry("one") + entry("two"));
  capture.drain("c");
  expect(texts(open().store)).toEqual(["one", "two"]);
});

test("a container that has ended is put on disk at once", () => {
  const { path, container, open } = world();
  const { capture } = open();
  appendFileSync(path, entry("one"));
  capture.watch([container(false)]);
  readAll(capture);
  expect(texts(open().store)).toEqual(["one"]);
});

test("an entry that is still being written waits for its end", () => {
  const { path, container, open } = world();
  const { store, capture } = open();
  capture.watch([container()]);
  const whole = entry("one");
  appendFileSync(path, whole.slice(0, 20));
  readAll(capture);
  expect(texts(store)).toEqual([]);
  appendFileSync(path, whole.slice(20));
  readAll(capture);
  expect(texts(store)).toEqual(["one"]);
});

/** A container that has been quiet for long, at a time that the test sets; `look` answers how many lines the store has. */
function quiet(watchFile?: Parameters<typeof createCapture>[0]["watchFile"], untilMs = 4_000) {
  const { path, container, folder } = world();
  let at = 0;
  const store = openLogStore({
    folder: join(folder, "store"),
    limits: logLimits.store,
    log: silentLog,
    now: () => startMs,
  });
  const capture = createCapture({
    sink: store,
    limits: logLimits.capture,
    log: silentLog,
    now: () => startMs,
    steady: () => at,
    ...(watchFile && { watchFile }),
  });
  capture.watch([container()]);
  const look = (steadyMs: number) => {
    at = steadyMs;
    readAll(capture);
    return texts(store).length;
  };
  appendFileSync(path, entry("one"));
  for (let steadyMs = 0; steadyMs <= untilMs; steadyMs += 200) look(steadyMs);
  return { path, look, capture, readable: () => texts(store) };
}

test("a quiet container that writes is read at the next look, because its file is watched", async () => {
  const { path, look, capture } = quiet();
  appendFileSync(path, entry("two"));
  await waitFor("the line that woke it", () => look(4_200) === 2);
  capture.close();
});

/** As on a network file system. */
const unwatched = () => ({ isSure: false, end: () => undefined });

test("a quiet container whose file cannot be watched is read within a second", () => {
  const { path, look, capture } = quiet(unwatched);
  for (let at = 4_200; at <= 64_000; at += 200) look(at);
  appendFileSync(path, entry("two"));
  const looks = [64_200, 64_400, 64_600, 64_800, 65_000];
  expect(looks.map((at) => look(at))).toContain(2);
  capture.close();
});

test("what is written while a watch begins is read within a second", () => {
  const { path, look, capture } = quiet(undefined, logLimits.capture.quietMs);
  // No event of a watch comes before this test gives way.
  appendFileSync(path, entry("two"));
  const looks = [2_200, 2_400, 2_600, 2_800, 3_000];
  expect(looks.map((at) => look(at))).toContain(1);
  expect(look(3_000)).toBe(2);
  capture.close();
});

test("a quiet container whose file is watched is looked at every ten seconds, in case that an event is lost", () => {
  let looks = 0;
  const { path, look, capture } = quiet(() => ({ isSure: true, end: () => undefined }));
  for (let at = 4_200; at <= 5_000; at += 200) look(at);
  appendFileSync(path, entry("two"));
  for (let at = 5_200; look(at) === 1; at += 200) looks += 1;
  expect(looks * 200).toBeGreaterThan(3_000);
  expect(looks * 200).toBeLessThan(10_000);
  capture.close();
});

test("quiet containers are looked at together, also where they fell silent at different times", () => {
  const { folder, container } = world();
  const watched: ReturnType<typeof container>[] = [];
  let at = 0;
  const store = openLogStore({
    folder: join(folder, "store"),
    limits: logLimits.store,
    log: silentLog,
    now: () => startMs,
  });
  const capture = createCapture({
    sink: store,
    limits: logLimits.capture,
    log: silentLog,
    now: () => startMs,
    steady: () => at,
  });
  for (; watched.length < 20; at += 130) {
    const path = join(folder, `${watched.length}-json.log`);
    writeFileSync(path, entry("one"));
    watched.push(container(true, `${watched.length}`, path));
    capture.watch(watched);
    capture.turn();
  }
  const turnsFrom = (from: number) => {
    let turns = 0;
    for (at = from; at < from + 60_000; at += capture.pauseMs()) turns += capture.turn() ? 0 : 1;
    return turns;
  };
  turnsFrom(at);
  expect(turnsFrom(at)).toBeLessThanOrEqual(60_000 / logLimits.capture.watchedLookMs + 1);
  capture.close();
});

test("a quiet container whose file is rotated is read on in the next one", async () => {
  const { path, look, capture } = quiet();
  appendFileSync(path, entry("two"));
  renameSync(path, `${path}.1`);
  writeFileSync(path, entry("three"));
  await waitFor("the lines of both files", () => look(5_000) === 3);
  capture.close();
});

test("after a minute of silence, 40 MB at once over four files are read whole and in order", async () => {
  const { path, look, capture, readable } = quiet();
  for (let at = 4_200; at <= 64_000; at += 200) expect(look(at)).toBe(1);
  const [files, lines, filling] = [4, 1_000, "x".repeat(10_000)];
  const numberOf = (file: number, line: number) => String(file * lines + line).padStart(6, "0");
  const written = Array.from({ length: files }, (_, file) =>
    Array.from({ length: lines }, (__, line) => `${numberOf(file, line)} ${filling}`),
  );
  for (const [file, texts] of written.entries()) {
    for (let older = file; older > 0; older--) {
      renameSync(older === 1 ? path : `${path}.${older - 1}`, `${path}.${older}`);
    }
    appendFileSync(path, texts.map(entry).join(""));
  }
  await waitFor("the lines that woke it", () => look(65_000) === 1 + files * lines);
  expect(capture.state()).toMatchObject({ linesRead: 1 + files * lines, linesLeftOut: 0, gaps: 0 });
  expect(readable()).toEqual(["one", ...written.flat()]);
  capture.close();
});

test("quiet files are looked at often enough for drains, which take lines older than their lag for complete", () => {
  const { capture, drains } = logLimits;
  expect(capture.quietLookMs + capture.lookMs).toBeLessThan(drains.lagMs / 2);
});

test("a pod that writes too much is sampled, says so, and the other one keeps every line", () => {
  const { path, container, open, folder } = world();
  const other = join(folder, "d-json.log");
  const { store, capture } = open({ linesPerSecond: 10, linesAtOnce: 100, keepOneOf: 10 });
  appendFileSync(path, Array.from({ length: 1_100 }, (_, at) => entry(`flood ${at}`)).join(""));
  writeFileSync(other, entry("quiet 1") + entry("quiet 2"));
  capture.watch([container(false), container(false, "d", other)]);
  readAll(capture);
  const found = texts(store);
  expect(found.filter((text) => text.startsWith("quiet"))).toHaveLength(2);
  expect(found.filter((text) => text.startsWith("flood")).length).toBeLessThan(230);
  expect(found.find((text) => text.includes("left out"))).toMatch(
    /^\d+ lines of 1\.\d s left out: the pod writes more than 10 lines\/s$/,
  );
});

test("a damaged block is taken out of use, and what the container writes afterwards is kept and found", () => {
  const { path, container, open, folder } = world();
  const first = open();
  first.capture.watch([container()]);
  appendFileSync(path, entry("one"));
  readAll(first.capture);
  first.store.flush({ all: true });
  first.capture.close();
  const place = join(folder, "store/shop/web");
  const file = join(place, readdirSync(place)[0] ?? "");
  const bytes = readFileSync(file);
  bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 255;
  writeFileSync(file, bytes);
  const second = open();
  expect(texts(second.store)).toEqual([]);
  expect(second.store.state().damaged).toBe(1);
  appendFileSync(path, entry("two"));
  second.capture.watch([container()]);
  readAll(second.capture);
  second.store.flush({ all: true });
  expect(texts(second.store)).toEqual(["two"]);
  expect(texts(open().store)).toEqual(["two"]);
});

test("a write that a crash cut short is cut off, and its lines are read again", () => {
  const { path, container, open, folder } = world();
  const first = open();
  first.capture.watch([container()]);
  appendFileSync(path, entry("one"));
  readAll(first.capture);
  first.store.flush({ all: true });
  appendFileSync(path, entry("two"));
  readAll(first.capture);
  first.store.flush({ all: true });
  first.capture.close();
  const place = join(folder, "store/shop/web");
  const file = join(place, readdirSync(place)[0] ?? "");
  truncateSync(file, Bun.file(file).size - 7);
  const second = open();
  expect(texts(second.store)).toEqual(["one"]);
  second.capture.watch([container()]);
  readAll(second.capture);
  expect(texts(second.store)).toEqual(["one", "two"]);
});
