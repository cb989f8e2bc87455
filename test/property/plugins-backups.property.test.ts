import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { kitShell } from "../support/shell.ts";

type Verdict = "passed" | "failed" | "unchecked";
interface Kept {
  verdict: Verdict;
  /** Day that the clock showed when it was made: any. */
  day: number;
}

const day = 86_400;
const epoch = Date.parse("2026-01-01T00:00:00Z") / 1000;
const idOf = (at: number, index: number) =>
  `${new Date((epoch + at * day + index) * 1000).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
const describeIt = 'describe_backup() { echo "1 x"; }';

/** Backups as they were made, oldest first; what stays of them, by index. */
async function prune(made: readonly Kept[], keep: number, maxAgeDays: number, today: number): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), "berth-kept."));
  try {
    const sum = new Bun.CryptoHasher("sha256").update("x").digest("hex");
    for (const [index, { verdict, day: at }] of made.entries()) {
      const path = join(folder, idOf(at, index));
      mkdirSync(path);
      writeFileSync(join(path, "what"), "x");
      writeFileSync(join(path, "SHA256SUMS"), `${sum}  what\n`);
      writeFileSync(join(path, ".order"), `${index + 1}\n`);
      if (verdict !== "unchecked") writeFileSync(join(path, ".check"), `${verdict} 2026-01-01T00:00:00Z \n`);
    }
    const clock = `date() { case "$*" in +%s) echo ${epoch + today * day} ;; *) command date "$@" ;; esac; }`;
    const lines = `backups=$1\n${describeIt}\n${clock}\nprune ${keep} ${maxAgeDays * day}`;
    const { exitCode, stderr } = await kitShell(["pod.sh", "kept.sh"], lines, folder);
    expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
    const left = new Set(readdirSync(folder));
    return made.map(({ day: at }, index) => (left.has(idOf(at, index)) ? index : -1)).filter((index) => index >= 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const kept = fc.record({
  verdict: fc.constantFrom<Verdict>("passed", "failed", "unchecked"),
  day: fc.integer({ min: -400, max: 4_000 }),
});

test("whatever was made and whatever the clock said, the newest good backup stays, and the count holds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(kept, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(0, 1, 30),
      fc.integer({ min: -3_000, max: 9_000 }),
      async (made, keep, maxAgeDays, today) => {
        const left = await prune(made, keep, maxAgeDays, today);
        const of = (...wanted: Verdict[]) =>
          made.map(({ verdict }, index) => (wanted.includes(verdict) ? index : -1)).filter((index) => index >= 0);
        const stays = (indexes: number[]) => indexes.filter((index) => left.includes(index));
        for (const newest of [of("passed").at(-1), of("passed", "unchecked").at(-1), made.length - 1]) {
          if (newest !== undefined && newest >= 0) expect(left).toContain(newest);
        }
        expect(stays(of("failed")).length).toBeLessThanOrEqual(keep);
        expect(stays(of("passed", "unchecked")).length).toBeLessThanOrEqual(keep + 1);
        // What failed takes the place of none.
        if (maxAgeDays > 0) return;
        const others = of("passed", "unchecked").slice(-keep);
        expect(stays(others)).toEqual(others);
      },
    ),
    { numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 30), 500) },
  );
}, 60_000);
