import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import type { Layout } from "../../../src/base/disk/layout.ts";
import { type MoveRecord, parkedText, readMove, stayParked, thisMover, writeMove } from "../../../src/local/parked.ts";
import { diskRoot } from "../../support/disk-root.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

let root: Awaited<ReturnType<typeof diskRoot>>;
let layout: Layout;
beforeEach(async () => {
  root = await diskRoot();
  ({ layout } = root);
});
afterEach(() => root.remove());

const record = (more: Partial<MoveRecord>): MoveRecord => ({
  ...{ phase: "leaving", peer: "root@new", at: 0, installation: "i", prefix: "berth", dockerHost: "unix:///d" },
  ...more,
});
const stay = (ending = new AbortController()) => ({
  ending,
  done: stayParked(layout.root, { log: silentLog, ending: ending.signal }),
});
const asks = () => fetch("http://localhost/apply", { unix: layout.socket });

test("a server that no move concerns starts at once, and one whose move was killed acts again", async () => {
  expect(await stay().done).toBe(true);
  for (const mover of [{ ...thisMover(), started: "earlier boot 1" }, { pid: 4_194_305, started: "x" }, undefined]) {
    await writeMove(layout, record({ mover }));
    expect(await stay().done).toBe(true);
    expect(existsSync(layout.move)).toBe(false);
  }
});

test.each(["leaving", "moved", "arriving"] as const)("in the phase %s it waits, and says why", async (phase) => {
  const why = record({ phase, mover: thisMover() });
  await writeMove(layout, why);
  const { done } = stay();
  const answer = await waitFor("an answer", asks);
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { status: "error", error: parkedText(why), code: "unavailable", fields: { moving: true } },
  ]);
  await writeMove(layout, record({ phase: "moved" }));
  expect(parkedText(readMove(layout) ?? why)).toContain("moved to root@new at 1970-01-01T00:00:00.000Z");
  root.remove();
  expect(await done).toBe(true);
});

const damaged = ['{"phase":', "null", "5", "{}", '{"phase":"leaving"}', JSON.stringify({ ...record({}), at: 1e300 })];
test.each(damaged)("a signal ends it, and a damaged record never lets it act: %s", async (text) => {
  writeFileSync(layout.move, text);
  const { ending, done } = stay();
  await waitFor("an answer", asks);
  expect(readMove(layout)?.phase).toBe("moved");
  ending.abort();
  expect(await done).toBe(false);
});
