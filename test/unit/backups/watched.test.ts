import { beforeEach, expect, test } from "bun:test";
import { growthOf, readSize, sizeText } from "../../../src/backups/core/size.ts";
import { createInspector, createLedger } from "../../../src/backups/service/watched.ts";
import type { StoredCopy, StoredTarget } from "../../../src/backups/service/records.ts";
import type { Repository } from "../../../src/backups/service/repository.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";

const { signal } = new AbortController();
let clock: FakeClock;
let target: StoredTarget;
let known: StoredCopy[];
/** Ids that the target lists. */
let there: string[];
let fault: Failure | undefined;
let checked: string[];
let bytes: number;

beforeEach(() => {
  clock = createFakeClock();
  target = {
    ...{ name: "disk", url: "/srv/copies", credentials: {}, everyMs: 1, keep: "7d" },
    ...{ createdAt: clock.now(), prunedAt: undefined },
  };
  [known, there, fault, checked, bytes] = [[], [], undefined, [], 0];
});

const records = {
  copies: () => known,
  putCopies: async (_: string, copies: readonly StoredCopy[]) => {
    known = [...copies];
  },
  targets: () => [target],
  changeTarget: async (_: string, change: (stands: StoredTarget) => StoredTarget) => {
    target = change(target);
  },
};

const repository = {
  snapshots: async () => there.map((id) => ({ id, at: clock.now(), tags: ["berth-state"] })),
  async backup() {
    const snapshot = String(there.length);
    there.push(snapshot);
    return { snapshot, bytes: 1, added: 1 };
  },
  async forget() {
    return there.splice(0, 1);
  },
  async check(part: string) {
    checked.push(part);
    if (fault !== undefined) throw fault;
  },
  totalSize: async () => bytes,
} as unknown as Repository;

async function watched(copies: number) {
  const ledger = createLedger(records, clock, backupLimits);
  const seen = ledger.watch(target, repository);
  for (let turn = 0; turn < copies; turn++) await seen.backup({ folder: "/x", tags: [] }, signal);
  return { ledger, seen };
}

test("a copy that is missing at the target is found out, and what this server removed is not missed", async () => {
  const { ledger, seen } = await watched(3);
  await seen.forget([], [], signal);
  await seen.snapshots();
  expect(ledger.failing()).toEqual([]);
  there.pop();
  await seen.snapshots();
  const [found] = ledger.failing();
  expect(found).toMatchObject({ target: "disk", what: "list", sinceAt: clock.now() });
  expect(found?.error).toMatch(/^1 copy .* is missing at the target; .* berth backup target add disk/);
  // A removal of this server does not cover it up.
  await seen.forget([], [], signal);
  await seen.snapshots();
  expect(ledger.failing()).toHaveLength(1);
  await ledger.forgive("disk");
  await seen.snapshots();
  expect(ledger.failing()).toEqual([]);
});

test("of an append-only target, old copies may go, and the newest may not", async () => {
  target = { ...target, appendOnly: true };
  const { ledger, seen } = await watched(3);
  there.shift();
  await seen.snapshots();
  expect(ledger.failing()).toEqual([]);
  there.pop();
  await seen.snapshots();
  expect(ledger.failing()).toHaveLength(1);
});

test("each week another part of the data is read, and a check that fails is reported until one succeeds", async () => {
  const inspector = createInspector(records, clock, silentLog, backupLimits);
  const week = async () => {
    clock.moveTo(clock.steady() + backupLimits.checkEveryMs);
    await inspector.inspect("disk", repository, signal);
  };
  await inspector.inspect("disk", repository, signal);
  expect(checked).toEqual([]);
  await week();
  await inspector.inspect("disk", repository, signal);
  expect(checked).toEqual(["1/26"]);
  fault = new Failure("unavailable", "checking what is at target /srv/copies failed: repository contains errors");
  await week();
  const since = clock.now();
  await week();
  expect(inspector.failing()).toMatchObject([
    { what: "check", sinceAt: since, error: expect.stringContaining("berth backup repair disk") },
  ]);
  // A copy that is under way is no fault of the data.
  fault = new Failure("unavailable", "checking failed: repository is already locked by PID 1");
  await week();
  expect(target.checkError).toContain("contains errors");
  fault = undefined;
  await week();
  expect([inspector.failing(), checked.at(-1)]).toEqual([[], "4/26"]);
});

test("a target that is larger than it may be is reported since it became so, and shows its growth", async () => {
  target = { ...target, maxBytes: 2e9 };
  const inspector = createInspector(records, clock, silentLog, backupLimits);
  for (bytes = 1e9; bytes <= 3e9; bytes += 1e9) {
    await inspector.inspect("disk", repository, signal);
    clock.moveTo(clock.steady() + backupLimits.sizeEveryMs);
  }
  const error = "3GB, more than 2GB; keep less (--keep), or allow more (--max-size)";
  expect(inspector.failing()).toEqual([{ target: "disk", what: "size", sinceAt: target.sizes?.[2]?.at ?? 0, error }]);
  expect(growthOf(target.sizes)).toBe(1e9);
});

test.each([
  ["50GB", 50e9],
  ["1.5 tb", 1.5e12],
  ["0GB", undefined],
  ["50", undefined],
  ["-1GB", undefined],
  ["1e9GB", undefined],
])("%s is read as %p bytes", (text, size) => {
  expect(readSize(text)).toBe(size as number);
  if (size !== undefined) expect(readSize(sizeText(size))).toBe(size);
});
