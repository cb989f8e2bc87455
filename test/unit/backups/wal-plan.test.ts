import { describe, expect, test } from "bun:test";
import { expiredPaths, hourOf, outboxFile, readArchives } from "../../../src/backups/core/wal-objects.ts";
import { rangesOf, stretchesOf, stretchFor } from "../../../src/backups/core/wal-plan.ts";

const bytes = 16 * 1024 * 1024;
const second = (at: number) => Date.UTC(2026, 10, 29, 10, 0, at);
const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, "0");
const nameOf = (timeline: number, segment: number) => `${hex(timeline, 8)}${hex(0, 8)}${hex(segment, 8)}`;
const position = (segment: number, offset = 0) => hex(segment * bytes + offset, 16);
const wal = (file: string, system = "7") => `${system}/wal/2026112910/${file}`;

/** A whole segment, archived at a second. */
const whole = (timeline: number, segment: number, at: number) =>
  wal(`${nameOf(timeline, segment)}.0.${bytes}.${second(at)}.gz`);
const piece = (timeline: number, segment: number, [from, to]: [number, number], at: number) =>
  wal(`${nameOf(timeline, segment)}.${from}.${to}.${second(at)}.gz`);
const branch = (timeline: number, parent: number, left: string, at: number) =>
  wal(`${hex(timeline, 8)}.history.${parent}.${left}.${second(at)}.gz`);
const base = (label: string, timeline: number, [start, stop]: [number, number], endedAt: number) => [
  `7/base/${label}/base.tar.gz`,
  `7/base/${label}/about.${timeline}.${position(start, 40)}.${position(stop)}.${second(endedAt)}.${bytes}`,
];
const first = base("20261129T100000Z", 1, [2, 3], 5);

const archiveOf = (paths: string[]) => {
  const [archive] = readArchives(paths);
  if (archive === undefined) throw new Error("no archive");
  return archive;
};
const ranges = (paths: string[], mark?: Parameters<typeof stretchesOf>[1]) =>
  rangesOf(stretchesOf(archiveOf(paths), mark)).map(({ from, to }) => [
    (from - second(0)) / 1000,
    Math.round((to - second(0)) / 1000),
  ]);

describe("times that can be restored", () => {
  test("from the end of a base backup to the last piece that follows without a gap", () => {
    const paths = [...first, whole(1, 2, 4), whole(1, 3, 20), piece(1, 4, [0, 100], 30), piece(1, 4, [100, 300], 33)];
    expect(ranges(paths)).toEqual([[5, 33]]);
    expect(ranges(paths.filter((path) => !path.includes(".0.100.")))).toEqual([[5, 20]]);
  });

  test("a base backup whose own WAL is not there yet cannot be restored", () => {
    expect(ranges([...first])).toEqual([]);
  });

  // A container of the block makes these names. One without an end held the server forever, one without a date was a fault of its own.
  test.each([
    [
      "segments of one byte at the end of all positions",
      "20261129T100000Z",
      `${"F".repeat(16)}.${"F".repeat(16)}`,
      "1",
      "1",
    ],
    ["segments of no byte", "20261129T100000Z", `${position(2)}.${position(3)}`, "1", "0"],
    ["segments of a size that is no power of two", "20261129T100000Z", `${position(2)}.${position(3)}`, "1", "3000000"],
    ["an end after all times", "20261129T100000Z", `${position(2)}.${position(3)}`, "9".repeat(40), String(bytes)],
    ["a begin that is no time", "20269999T999999Z", `${position(2)}.${position(3)}`, "1", String(bytes)],
  ])("a base backup with %s is none", (_, label, positions, ended, size) => {
    const odd = `7/base/${label}/about.1.${positions}.${ended}.${size}`;
    const paths = [...first, odd, whole(1, 2, 4), whole(1, 3, 20)];
    expect(archiveOf(paths).bases).toHaveLength(1);
    expect(ranges(paths)).toEqual([[5, 20]]);
    expect(expiredPaths(readArchives(paths), paths, { now: second(60), keepMs: 86_400_000 })).toEqual([]);
  });

  test("an idle database reaches as far as its mark, where all of its WAL before that is there", () => {
    const paths = [...first, whole(1, 2, 4), piece(1, 3, [0, 100], 30)];
    const mark = { system: "7", at: second(90), segment: nameOf(1, 3), to: 100 };
    expect(ranges(paths, mark)).toEqual([[5, 90]]);
    expect(ranges(paths, { ...mark, to: 101 })).toEqual([[5, 30]]);
    expect(ranges(paths, { ...mark, segment: nameOf(1, 4) })).toEqual([[5, 30]]);
    expect(ranges(paths, { ...mark, system: "8" })).toEqual([[5, 30]]);
  });

  test("missing WAL is a gap, which the next base backup ends", () => {
    const later = base("20261129T100100Z", 1, [9, 9], 65);
    const paths = [...first, whole(1, 2, 4), whole(1, 3, 20), whole(1, 5, 40), ...later, whole(1, 9, 70)];
    expect(ranges(paths)).toEqual([
      [5, 20],
      [65, 70],
    ]);
    const stretches = stretchesOf(archiveOf(paths));
    expect(stretchFor(stretches, second(30))).toBeUndefined();
    expect(stretchFor(stretches, second(66))?.base.label).toBe("20261129T100100Z");
  });

  test("a promotion goes on along the new timeline, and a time before it follows the old one", () => {
    const old = [...first, whole(1, 2, 4), whole(1, 3, 20), piece(1, 4, [0, 500], 30)];
    const paths = [...old, branch(2, 1, position(4, 400), 40), whole(2, 4, 60), piece(2, 5, [0, 10], 70)];
    expect(ranges(paths)).toEqual([[5, 70]]);
    const stretches = stretchesOf(archiveOf(paths));
    const segments = (at: number) => stretchFor(stretches, second(at))?.pieces.map(({ segment }) => segment);
    expect(stretchFor(stretches, second(35))?.timeline).toBe(1);
    expect(segments(35)).toEqual([nameOf(1, 2), nameOf(1, 3), nameOf(1, 4)]);
    expect(stretchFor(stretches, second(41))?.timeline).toBe(2);
    expect(segments(41)).toEqual([nameOf(1, 2), nameOf(1, 3), nameOf(2, 4), nameOf(2, 5)]);
  });

  test("what a dead primary had not shipped is taken from the standby that was promoted", () => {
    const old = [...first, whole(1, 2, 4), whole(1, 3, 20), piece(1, 4, [0, 300], 30)];
    const paths = [...old, branch(2, 1, position(4, 400), 40), whole(2, 4, 60)];
    const stretches = stretchesOf(archiveOf(paths));
    expect(stretchFor(stretches, second(29))?.timeline).toBe(1);
    expect(stretchFor(stretches, second(35))?.timeline).toBe(2);
    // Where its beginning is missing, nothing after the base backup can be restored.
    expect(ranges(paths.filter((path) => path !== whole(1, 3, 20)))).toEqual([[5, 5]]);
  });

  test("after a restore in place, times before it follow the timeline of then", () => {
    const old = [...first, whole(1, 2, 4), whole(1, 3, 20), whole(1, 4, 30), whole(1, 5, 50)];
    const paths = [...old, branch(2, 1, position(3, 400), 60), piece(2, 3, [0, 500], 80)];
    const stretches = stretchesOf(archiveOf(paths));
    expect(stretchFor(stretches, second(45))?.timeline).toBe(1);
    expect(stretchFor(stretches, second(55))).toBeUndefined();
    expect(stretchFor(stretches, second(70))?.timeline).toBe(2);
  });
});

describe("files of an outbox", () => {
  test("have a place at the target, and nothing else is taken from it", () => {
    const now = second(0);
    expect(outboxFile(`7.${nameOf(1, 2)}.0.100.${now}.gz`, now)).toEqual({
      kind: "wal",
      path: wal(`${nameOf(1, 2)}.0.100.${now}.gz`),
    });
    expect(outboxFile("7.base.20261129T100000Z.16384.tar.gz", now)?.path).toBe("7/base/20261129T100000Z/16384.tar.gz");
    for (const name of [".new-0-tail", "..", "7.base.x.about", "a/../../b", `x.${nameOf(1, 2)}.0.100.1.gz`, ""]) {
      expect(outboxFile(name, now)).toBeUndefined();
    }
  });
});

describe("what is removed at the target", () => {
  const day = 86_400_000;
  test("nothing that a time within the days that are kept needs", () => {
    const label = (at: number) => `${new Date(at).toISOString().replaceAll(/[-:]/g, "").slice(0, 15)}Z`;
    const paths = Array.from({ length: 10 }, (_, at) => second(0) + at * day).flatMap((at, index) => [
      `7/base/${label(at)}/base.tar.gz`,
      `7/base/${label(at)}/about.1.${position(index * 10)}.${position(index * 10 + 1)}.${at + 5000}.${bytes}`,
      `7/wal/${hourOf(at)}/${nameOf(1, index * 10)}.0.${bytes}.${at}.gz`,
      `7/wal/${hourOf(at)}/${nameOf(1, index * 10)}.0.100.${at}.gz`,
    ]);
    const gone = expiredPaths(readArchives(paths), paths, { now: second(0) + 9 * day + 3_600_000, keepMs: 3 * day });
    const left = paths.filter((path) => !gone.includes(path));
    expect(left.filter((path) => path.includes("/base.tar.gz"))).toHaveLength(4);
    expect(left.filter((path) => path.includes(`.${bytes}.`) && path.includes("/wal/"))).toHaveLength(4);
    expect(left.filter((path) => path.includes(".100."))).toHaveLength(0);
  });

  test("a cluster that another one replaced goes as a whole once it is old, and the newest never does", () => {
    const old = [...first, whole(1, 2, 4)];
    const fresh = old.map((path) => path.replace(/^7/, "8").replaceAll(String(second(5)), String(second(5) + 9 * day)));
    const gone = (paths: string[]) =>
      expiredPaths(readArchives(paths), paths, { now: second(0) + 9 * day, keepMs: 3 * day });
    expect(gone([...old, ...fresh])).toEqual(old);
    expect(gone(old)).toEqual([]);
  });
});
