import { beforeEach, expect, test } from "bun:test";
import type { Restic } from "../../../src/backups/restic/restic.ts";
import { createBackups } from "../../../src/backups/service/create.ts";
import { createLimit } from "../../../src/base/words/limit.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { actsAlone, generationRow } from "../../support/acts-alone.ts";
import { createBackupRecords, noDumps, noImages, noPlatform } from "../../support/backup-parts.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { openGate } from "../../support/open-gate.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createTurns } from "../../support/turns.ts";

/** Copies with a restic that does what it is asked; a test lets each backup end. */
const { quiet } = createTurns(createFakeClock());
const yearMs = 365 * 86_400_000;
let clock: FakeClock;
let { targets, keys, runs, records } = createBackupRecords();
/** Repositories that a copy was begun to, and what ends each. */
let begun: { repository: string; end(): void }[];
let passwords: string[];

beforeEach(() => {
  clock = createFakeClock();
  ({ targets, runs, keys, records } = createBackupRecords());
  [begun, passwords] = [[], []];
});

const restic: Restic = {
  version: async () => "0.16.0",
  async run({ words, env, signal }) {
    passwords.push(env.RESTIC_PASSWORD ?? "");
    let stdout = "";
    if (words[0] === "backup") {
      const { promise, resolve } = Promise.withResolvers<void>();
      signal?.addEventListener("abort", () => resolve());
      begun.push({ repository: env.RESTIC_REPOSITORY ?? "", end: resolve });
      await promise;
      stdout = JSON.stringify({ message_type: "summary", snapshot_id: "abc", total_bytes_processed: 1, data_added: 1 });
    } else if (words[0] === "snapshots") {
      const time = new Date().toISOString();
      stdout = JSON.stringify([{ id: "abc", time }, generationRow(time)]);
    }
    return {
      ok: signal?.aborted !== true,
      code: 0,
      stdout,
      trouble: "other",
      cause: "it was interrupted",
    };
  },
};

function make(platform = noPlatform) {
  let random = 0;
  return createBackups({
    ...{ platform, images: noImages, dumps: noDumps, parts: [] },
    ...{
      restic,
      clock,
      log: silentLog,
      gate: openGate,
      turn: createLimit(1),
      reading: createLimit(1),
      limits: backupLimits,
      records,
    },
    installationId: "0123456789abcdef",
    ...actsAlone(clock),
    isOurs: async (folder) => folder.startsWith("/opt/berth"),
    randomBytes: (count) => new Uint8Array(count).fill(random++),
    stage: async () => ({ folder: "/staged", close: async () => undefined }),
    onCopied: async () => undefined,
    onEvent: async () => undefined,
  });
}

test("calls at the same time make one recovery key: every copy opens with the one that is stored and printed", async () => {
  const backups = make();
  const [printed, again] = await Promise.all([
    backups.showKey("ann"),
    backups.showKey("ann"),
    backups.putTarget("a", { url: "/mnt/a" }, "ann"),
  ]);
  expect(new Set([printed, again, ...passwords, ...keys]).size).toBe(1);
});

test("a target that is removed while a copy goes there stays removed, and what was queued does not go there", async () => {
  const backups = make();
  await backups.putTarget("a", { url: "/mnt/a" }, "ann");
  await backups.runNow("a");
  await backups.runNow("a");
  await quiet();
  expect(begun.map(({ repository }) => repository)).toEqual(["/mnt/a/0123456789abcdef"]);
  await backups.removeTarget("a", "ann");
  begun[0]?.end();
  await quiet();
  expect([backups.listTargets(), runs.size, begun.length]).toEqual([[], 0, 1]);
});

test("a target that is changed while copies are queued gets them at its new address, and keeps what was changed", async () => {
  const backups = make();
  await backups.putTarget("a", { url: "/mnt/a" }, "ann");
  await backups.runNow("a");
  await backups.runNow("a");
  await quiet();
  // It does not wait for the copy that is under way.
  await backups.putTarget("a", { url: "/mnt/b", keep: "3d" }, "ann");
  begun[0]?.end();
  await quiet();
  expect(begun.map(({ repository }) => repository)).toEqual(["/mnt/a", "/mnt/b"].map((at) => `${at}/0123456789abcdef`));
  begun[1]?.end();
  await quiet();
  expect(targets.get("a")).toMatchObject({ url: "/mnt/b", keep: "3d", prunedAt: clock.now() });
});

test("a clock that was ahead holds no copy back: what it dated after now is due", async () => {
  const backups = make();
  clock.jump(10 * yearMs);
  await backups.putTarget("a", { url: "/mnt/a" }, "ann");
  const stopping = new AbortController();
  const running = backups.run(stopping.signal);
  await quiet();
  begun[0]?.end();
  await quiet();
  clock.jump(-10 * yearMs);
  clock.moveTo(clock.steady() + backupLimits.lookMs);
  await quiet();
  expect(begun).toHaveLength(2);
  begun[1]?.end();
  await quiet();
  expect(targets.get("a")?.prunedAt).toBe(clock.now());
  // One copy makes up for it.
  clock.moveTo(clock.steady() + backupLimits.lookMs);
  await quiet();
  expect(begun).toHaveLength(2);
  stopping.abort();
  await running;
});

test.each(["/opt/berth", "/opt/berth/copies/state"])("%s is no target: it is lost with the server", async (url) => {
  const put = make().putTarget("a", { url }, "ann");
  expect(put).rejects.toThrow("lies in the server's own folder");
  await put.catch(() => undefined);
});

test.each([
  { user: "ann", password: "\ud800" },
  { user: "ann", password: "a\0b" },
  { user: "a\nb", password: "word" },
])("credentials that no program can be given are refused: %j", async (credentials) => {
  const put = make().putTarget("a", { url: "rest:https://vault.example.com/", credentials }, "ann");
  expect(put).rejects.toMatchObject({ code: "invalid" });
  await put.catch(() => undefined);
});

test("a copy whose run could not be recorded, as on a full disk, is not taken for one", async () => {
  const [subject, policy] = [
    { scope: "data", kind: "statefulset", name: "main", claim: "data", ordinal: 0 },
    { everyMs: yearMs, everyText: "1y", keep: undefined, target: undefined, pre: [], post: [], exclude: [] },
  ];
  const app = { ...subject, policy, volumes: [{ subject, volume: "main-0" }], updatedAt: 0 };
  const backups = make({ ...noPlatform, apps: () => [app] });
  await backups.putTarget("a", { url: "/mnt/a" }, "ann");
  const old = {
    startedAt: clock.now() - 1,
    endedAt: clock.now(),
    snapshot: "abc",
    bytes: 1,
    added: 1,
    error: undefined,
  };
  runs.set("a data/main/data/0", [old]);
  const made = backups.copyNow("data/main");
  await quiet();
  begun[0]?.end();
  await expect(made).rejects.toThrow("at a: it is not known whether the copy was made");
});
