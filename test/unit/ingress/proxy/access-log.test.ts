import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../../../src/base/words/log.ts";
import { systemClock } from "../../../../src/base/words/clock.ts";
import type { AccessEntry } from "../../../../src/ingress/api/access-log.ts";
import { accessEntry } from "../../../../src/ingress/core/access-entry.ts";
import { createAccessLog } from "../../../../src/ingress/proxy/access-log.ts";
import { accessLine } from "../../../support/access-lines.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { waitFor } from "../../../support/wait.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "access-log."));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const sizes = { accessFileBytesMax: 1_000, accessFilesMax: 3, accessBufferMax: 10_000, accessFlushMs: 1 };
const open = (changed: Partial<typeof sizes> = {}, log = silentLog) =>
  createAccessLog({ folder: join(root, "ingress"), clock: systemClock, log, limits: { ...sizes, ...changed } });

function entry(seq: number, status = 200): AccessEntry {
  const place = { site: "shop/web", answeredBy: undefined, accessLog: "all" as const };
  return accessEntry(accessLine({ status }), place, seq);
}

const numbers = (entries: AccessEntry[]) => entries.map(({ seq }) => seq);

test("the newest entries that are asked for are read back, oldest first", async () => {
  const log = open({ accessFileBytesMax: 1_000_000 });
  for (let seq = 1; seq <= 9; seq++) log.write(entry(seq, seq % 3 === 0 ? 503 : 200));
  expect(numbers(await log.read({}, 4))).toEqual([6, 7, 8, 9]);
  expect(numbers(await log.read({ status: "5xx" }, 2))).toEqual([6, 9]);
  expect(numbers(await log.read({ after: 7 }, 100))).toEqual([8, 9]);
  expect(numbers(await log.read({ requestId: "none" }, 100))).toEqual([]);
});

test("files have a size, and only so many are kept; entries are read over all of them", async () => {
  const log = open();
  for (let seq = 1; seq <= 30; seq++) {
    log.write(entry(seq));
    await log.read({}, 1);
  }
  const folder = join(root, "ingress");
  expect(readdirSync(folder).toSorted()).toEqual(["access.log", "access.log.1", "access.log.2"]);
  for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).size).toBeLessThanOrEqual(1_000);
  const kept = numbers(await log.read({}, 100));
  expect(kept.at(-1)).toBe(30);
  expect(kept).toEqual(kept.map((_, index) => 31 - kept.length + index));
  expect(kept.length).toBeGreaterThan(4);
});

test("the next server goes on in the same file, behind a line that was cut off", async () => {
  const first = open({ accessFileBytesMax: 1_000_000 });
  first.write(entry(1));
  await first.read({}, 1);
  const path = join(root, "ingress/access.log");
  writeFileSync(path, `${readFileSync(path, "utf8")}{"seq":2,"ti\n`);
  const next = open({ accessFileBytesMax: 1_000_000 });
  next.write(entry(3));
  expect(numbers(await next.read({}, 10))).toEqual([1, 3]);
});

test("no timer runs while no entry comes", async () => {
  const clock = createFakeClock();
  const limits = { ...sizes, accessFlushMs: 250 };
  const log = createAccessLog({ folder: join(root, "ingress"), clock, log: silentLog, limits });
  const over = new AbortController();
  const running = log.run(over.signal);
  await Bun.sleep(0);
  expect(clock.sleepers).toBe(0);
  for (const seq of [1, 2]) {
    log.write(entry(seq));
    await waitFor("a timer", () => clock.sleepers === 1);
    clock.moveTo(clock.steady() + 250);
    await waitFor("the entry on disk", () =>
      readFileSync(join(root, "ingress/access.log"), "utf8").includes(`"seq":${seq}`),
    );
    await waitFor("no timer", () => clock.sleepers === 0);
  }
  over.abort();
  await running;
});

test("the log is for the owner alone", async () => {
  const log = open();
  log.write(entry(1));
  await log.read({}, 1);
  expect(statSync(join(root, "ingress")).mode & 0o777).toBe(0o700);
  expect(statSync(join(root, "ingress/access.log")).mode & 0o777).toBe(0o600);
});

test("entries beyond the buffer are lost, and counted in the server's log", async () => {
  const said: string[] = [];
  const log = open(
    { accessBufferMax: 600, accessFileBytesMax: 1_000_000 },
    createLog((line) => said.push(line), "info"),
  );
  for (let seq = 1; seq <= 5; seq++) log.write(entry(seq));
  expect(numbers(await log.read({}, 10))).toEqual([1, 2]);
  expect(said.join()).toContain("access log entries were too many and are lost");
  expect(said.join()).toContain('"count":3');
});

test("what waits is written while it runs and at the end; a disk that refuses is reported once", async () => {
  const over = new AbortController();
  const log = open();
  const running = log.run(over.signal);
  log.write(entry(1));
  over.abort();
  await running;
  expect(readFileSync(join(root, "ingress/access.log"), "utf8")).toContain('"seq":1');
  const said: string[] = [];
  writeFileSync(join(root, "file"), "");
  const refused = createAccessLog({
    folder: join(root, "file"),
    clock: systemClock,
    log: createLog((line) => said.push(line), "info"),
    limits: sizes,
  });
  for (let seq = 1; seq <= 3; seq++) {
    refused.write(entry(seq));
    expect(await refused.read({}, 1)).toEqual([]);
  }
  expect(said.filter((line) => line.includes("access log not written"))).toHaveLength(1);
});
