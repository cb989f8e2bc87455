import { expect, test } from "bun:test";
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logLimits } from "../../src/config/log-limits.ts";
import { foldCase } from "../../src/base/pure/fold-case.ts";
import { quotedPhrase } from "../../src/observability/api/log-phrase.ts";
import { readingOf } from "../../src/observability/core/logs/reading.ts";
import { compareLines, type FoundLine, levels, logStreams } from "../../src/observability/core/logs/line.ts";
import { compileQuery, lineFits, type LogQuery } from "../../src/observability/core/logs/query.ts";
import type { Order } from "../../src/observability/core/logs/cursor.ts";
import { type LogStore, openLogStore } from "../../src/observability/store/logs/log-store.ts";
import { searchLines } from "../../src/observability/store/logs/search.ts";
import { ageBlocks } from "../support/older-log-blocks.ts";
import { silentLog } from "../support/silent-log.ts";

const words = [
  "timeout",
  "connect",
  "ECONNREFUSED",
  "user",
  "order",
  "Éclair",
  "a1b2c3d4e5f60718",
  "status=500",
  "ok",
  "0f",
  "ÜBER Straße",
  "ОШИБКА",
  "Σίσυφος",
  "İstanbul ılık",
  "cafe\u0301",
  "🚀 launch",
  "/api/users",
];
/** As `json_encode` of PHP and `json.dumps` of Python write it. */
const escaped = (value: unknown) =>
  JSON.stringify(value)
    .replaceAll("/", "\\/")
    .replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const text = fc.oneof(
  fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((parts) => parts.join(" ")),
  fc
    .record({ level: fc.constantFrom("info", "error"), msg: fc.constantFrom(...words), n: fc.nat(20) })
    .chain((o) => fc.constantFrom(JSON.stringify(o), escaped(o))),
  fc.string({ unit: "binary", maxLength: 30 }).map((any) => any.replaceAll("\n", " ").toWellFormed()),
);
const began = 1_700_000_000_000;
const line: fc.Arbitrary<FoundLine> = fc.record({
  app: fc.constantFrom({ scope: "shop", name: "web" }, { scope: "shop", name: "api" }),
  at: fc.nat(40).map((at) => began + at),
  source: fc.constantFrom("a", "b").map((id) => ({ id, pod: `pod-${id}`, replica: id, release: "r1", role: "" })),
  stream: fc.constantFrom(...logStreams),
  level: fc.constantFrom(...levels),
  text,
});
const query: fc.Arbitrary<LogQuery> = fc.record(
  {
    text: fc.constantFrom(
      "timeout",
      "CONN",
      "conn",
      "-user",
      "n>=10",
      "msg=user",
      "/o.d/",
      "/TIME/i",
      "a1b2c3d4e5f60718",
      "éclair",
      "level>=warn",
      '"status=500"',
      "replica=a",
      "-app=shop/web",
      "éc user",
      "ÜBER",
      "strasse",
      "ошибк",
      "σίσυφοσ",
      "istanbul",
      "café",
      "🚀",
      "/api/users",
      "u0438",
      "\\\\u0438",
      "msg=ОШИБКА",
      "/[\\p{Lu}]ШИБ/",
      "/\\x74imeout/",
      "/страс|ошиб/i",
      "-ошибка",
    ),
    apps: fc.constantFrom([], ["shop"], ["shop/web"]),
    from: fc.nat(40).map((at) => began + at),
    until: fc.nat(40).map((at) => began + at),
    level: fc.constantFrom(...levels),
    stream: fc.constantFrom(...logStreams),
  },
  { requiredKeys: ["apps"] },
);
/** After how many lines what happens. `age`: the blocks up to here are as an older server wrote them. */
const deeds = fc.array(
  fc.record({ after: fc.integer({ min: 1, max: 30 }), deed: fc.constantFrom("flush", "seal", "reopen", "age") }),
  { maxLength: 6 },
);

test("a search finds what a look at every line finds, whatever was written, packed or reopened in between", () => {
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 120 }),
      deeds,
      query,
      fc.constantFrom<Order>("asc", "desc"),
      fc.integer({ min: 1, max: 40 }),
      (lines, steps, asked, order, limit) => {
        const folder = mkdtempSync(join(tmpdir(), "logs-"));
        try {
          const { store } = filled(folder, lines, steps);
          const compiled = compileQuery(asked);
          const fit = lines.filter((one) => lineFits(compiled, one)).toSorted(compareLines);
          const pages = paged(store, { query: compiled, order, limit });
          expect(pages.flat()).toEqual(order === "asc" ? fit : fit.toReversed());
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: Number(process.env.BERTH_TEST_CASES ?? 75) },
  );
});

test("what a line reads is found in it, in small letters and as it is, in blocks of this server and of older ones", () => {
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 60 }),
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 3, max: 12 }),
      fc.boolean(),
      (lines, which, from, length, isOld) => {
        const folder = mkdtempSync(join(tmpdir(), "logs-"));
        try {
          const { store } = filled(folder, lines, [{ after: lines.length, deed: isOld ? "age" : "seal" }]);
          const chosen = lines[which % lines.length];
          if (chosen === undefined) throw new Error("there is no line");
          const reading = readingOf(chosen.text).normalize("NFC");
          const part = [...reading.slice(from % Math.max(reading.length, 1))].slice(0, length).join("").toWellFormed();
          // A mark would belong to the letter before it.
          fc.pre(part.trim() !== "" && !/^\p{M}|\p{M}$|[\\\0\ufffd]/u.test(part));
          for (const asked of [part, foldCase(part)]) {
            const query = compileQuery({ apps: [], text: quotedPhrase(asked) });
            const found = paged(store, { query, order: "asc", limit: 200 }).flat();
            expect(found).toContainEqual(chosen);
            expect(found).toEqual(lines.filter((one) => lineFits(query, one)).toSorted(compareLines));
          }
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: Number(process.env.BERTH_TEST_CASES ?? 75) },
  );
});

/** Many lines of few milliseconds, nearly in the order of time, as several containers of an app write them. */
const crowd = fc
  .array(line, { minLength: 30, maxLength: 80, size: "max" })
  .map((lines) => lines.map((one, at) => ({ ...one, at: began + Math.floor(at / 12) + ((one.at - began) % 3) })));
const broadQuery = fc.constantFrom<LogQuery>(
  { apps: [] },
  { apps: ["shop/web"] },
  { apps: [], text: "u" },
  { apps: [], text: "-user" },
  { apps: [], text: "/o|0/" },
  { apps: [], from: began + 2, until: began + 5 },
);
const pageSize = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  charactersMax: fc.constantFrom(Infinity, 1, 20, 100),
});

test("pages of crowded milliseconds are one search without a limit, both ways round, though blocks move in between", () => {
  fc.assert(
    fc.property(
      crowd,
      fc.array(
        fc.record({ after: fc.integer({ min: 1, max: 20 }), deed: fc.constantFrom("write", "seal", "reopen") }),
        {
          minLength: 2,
          maxLength: 6,
          size: "max",
        },
      ),
      broadQuery,
      fc.constantFrom<Order>("asc", "desc"),
      pageSize,
      fc.integer({ min: 1, max: 12 }),
      (lines, steps, asked, order, size, sealAt) => {
        const folder = mkdtempSync(join(tmpdir(), "logs-"));
        try {
          const { store, seal } = filled(folder, lines, steps);
          const compiled = compileQuery(asked);
          const fit = lines.filter((one) => lineFits(compiled, one)).toSorted(compareLines);
          const between = (count: number) => {
            if (count === sealAt) seal();
          };
          const pages = paged(store, { query: compiled, order, ...size }, between);
          expect(pages.flat()).toEqual(order === "asc" ? fit : fit.toReversed());
          for (const page of pages.slice(0, -1))
            expect(page.length === size.limit || characters(page) >= size.charactersMax).toBe(true);
          for (const page of pages) {
            expect(page.length).toBeLessThanOrEqual(size.limit);
            expect(characters(page.slice(0, -1))).toBeLessThan(size.charactersMax);
          }
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
    ),
    { numRuns: Number(process.env.BERTH_TEST_CASES ?? 75) },
  );
});

test.each<Order>(["asc", "desc"])(
  "%s: a search goes on where its time was up, also where it has found nothing",
  (order) => {
    const folder = mkdtempSync(join(tmpdir(), "logs-"));
    try {
      const lines = Array.from({ length: 60 }, (_, at) =>
        crowdedLine(began + at, at === 7 || at === 48 ? "hit" : "miss"),
      );
      const { store } = filled(
        folder,
        lines,
        Array.from({ length: 20 }, () => ({ after: 3, deed: "write" })),
      );
      const query = compileQuery({ apps: [], text: "hit" });
      let looks = 0;
      const stop = () => {
        looks += 1;
        // Time for one block on each page.
        return looks % 2 === 0;
      };
      const pages = paged(store, { query, order, limit: 10 }, undefined, stop);
      expect(pages.flat().map(({ at }) => at - began)).toEqual(order === "asc" ? [7, 48] : [48, 7]);
      expect(pages.length).toBeGreaterThan(10);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

function crowdedLine(at: number, words: string): FoundLine {
  const source = { id: "a", pod: "pod-a", replica: "a", release: "r1", role: "" };
  return { app: { scope: "shop", name: "web" }, at, source, stream: "stdout", level: "none", text: words };
}

function characters(lines: readonly FoundLine[]): number {
  return lines.reduce((sum, one) => sum + one.text.length, 0);
}

function filled(
  folder: string,
  lines: readonly FoundLine[],
  steps: readonly { after: number; deed: string }[],
): { store: LogStore; seal: () => void } {
  let now = began;
  const open = () =>
    openLogStore({
      folder,
      limits: logLimits.store,
      log: silentLog,
      now: () => now,
      space: () => ({ freeBytes: 9, totalBytes: 10 }),
    });
  let store = open();
  /** Writes what waits, and puts small blocks together. */
  const seal = () => {
    store.flush({ all: true });
    now += 3_600_000;
    store.sweep(undefined);
  };
  let at = 0;
  for (const { after, deed } of steps) {
    for (const { app, ...one } of lines.slice(at, at + after)) store.add(app, one);
    at += after;
    store.flush({ all: deed !== "flush" || at % 2 === 0 });
    if (deed === "seal") seal();
    if (deed === "age") ageBlocks(folder);
    if (deed === "reopen" || deed === "age") store = open();
  }
  for (const { app, ...one } of lines.slice(at)) store.add(app, one);
  return { store, seal };
}

interface Paging {
  query: ReturnType<typeof compileQuery>;
  order: Order;
  limit: number;
  charactersMax?: number;
}

function paged(
  store: LogStore,
  request: Paging,
  between: (pages: number) => void = () => undefined,
  stop: () => boolean = () => false,
): FoundLine[][] {
  const pages: FoundLine[][] = [];
  let cursor: { at: number; skip: number } | undefined;
  while (pages.length < 500) {
    const run = searchLines(store, { ...request, ...(cursor === undefined ? {} : { cursor }) }, stop);
    let step = run.next();
    while (step.done !== true) step = run.next();
    pages.push(step.value.lines);
    cursor = step.value.next;
    if (cursor === undefined) return pages;
    between(pages.length);
  }
  throw new Error("the pages never end");
}
