import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileQuery } from "../../src/observability/core/logs/query.ts";
import { chunkMs, rawTier } from "../../src/observability/core/metrics/tiers.ts";
import { searchLines } from "../../src/observability/store/logs/search.ts";
import { type Observed, observed } from "../support/observed-root.ts";

const kills = Number(process.env.BERTH_TEST_KILLS ?? "5");
const samplesPerRound = 90;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "observability-kill-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Acknowledged {
  sample: number;
  line: number;
}

/** Lets a writer go on from sample `first`, kills it in the middle, and returns the last that it acknowledged. */
async function killedWriter(first: number, before: Acknowledged): Promise<Acknowledged> {
  const command = [process.execPath, join(import.meta.dir, "observability-writer.ts"), root, String(first)];
  const writer = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const decoder = new TextDecoder();
  const last = { ...before };
  let rest = "";
  for await (const chunk of writer.stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      const [word, number] = text.split(" ");
      if (word === "sample") last.sample = Number(number);
      if (word === "stored") last.line = Number(number);
    }
    if (last.sample >= first + samplesPerRound) writer.kill("SIGKILL");
  }
  await writer.exited;
  expect(writer.signalCode).toBe("SIGKILL");
  return last;
}

/** Lines of the pod that are on disk and read, oldest first. */
function linesOf({ store }: Observed): number[] {
  const query = compileQuery({ apps: [] });
  const search = searchLines(store, { query, order: "asc", limit: 10_000_000 }, () => false);
  let step = search.next();
  while (step.done !== true) step = search.next();
  return step.value.lines.map(({ text }) => Number(/^line (\d+)$/.exec(text)?.[1]));
}

/** The samples of one series, in the order of time. */
function samplesOf({ archive, now }: Observed, metric: string): number[] {
  const known = [...archive.table.all()].find(({ series }) => series.metric === metric);
  if (known === undefined) return [];
  const from = archive.store.firstStart(rawTier) ?? now() - chunkMs(rawTier);
  const values: number[] = [];
  for (const { chunk } of archive.raw(known.id, { from, to: now() + chunkMs(rawTier) }))
    if (chunk.form === "raw") values.push(...chunk.values.filter((value) => !Number.isNaN(value)));
  return values;
}

const upTo = (last: number) => Array.from({ length: last + 1 }, (_, n) => n);

test(
  `${kills} kills lose no sample and no line that was acknowledged, and nothing comes twice`,
  async () => {
    let last: Acknowledged = { sample: -1, line: -1 };
    let next = 0;
    for (let round = 0; round < kills; round++) {
      last = await killedWriter(next, last);
      const after = observed(root);
      after.clockTo(last.sample + 1);
      const stored = linesOf(after);
      expect(stored).toEqual(upTo(stored.length - 1));
      expect(stored.length).toBeGreaterThan(last.line);
      for (const { metric } of after.series) {
        const samples = samplesOf(after, metric);
        // The one under way when it was killed may be there too.
        expect(samples).toEqual(upTo(samples.length - 1));
        expect(samples.length).toBeWithin(last.sample + 1, last.sample + 3);
        next = samples.length;
      }
      // What was read and was not on disk is read again.
      while (after.capture.turn());
      const read = linesOf(after);
      expect(read).toEqual(upTo(read.length - 1));
      expect(read.length).toBe(readFileSync(join(root, "pod-json.log"), "utf8").split("\n").length - 1);
      expect(after.store.state()).toMatchObject({ damaged: 0, problem: undefined });
      after.close();
    }
  },
  30_000 + kills * 5_000,
);
