import { beforeEach, describe, expect, test } from "bun:test";
import { createBackups } from "../../../src/backups/service/create.ts";
import type { Restic } from "../../../src/backups/restic/restic.ts";
import { createGate } from "../../../src/base/deliver/gate.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { createLog } from "../../../src/base/words/log.ts";
import { createLimit, enter } from "../../../src/base/words/limit.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { actsAlone, generationRow } from "../../support/acts-alone.ts";
import { createBackupRecords, noDumps, noImages, noPlatform } from "../../support/backup-parts.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

type Answer = Partial<Awaited<ReturnType<Restic["run"]>>>;

const good = { ok: true, code: 0, stdout: "", trouble: "other", cause: "" } as const;
const hour = 3_600_000;

describe("copies of the state", () => {
  let clock: ReturnType<typeof createFakeClock>;
  const pass = (ms: number) => clock.moveTo(clock.steady() + ms);
  let said: Record<string, Answer>;
  let asked: string[];
  let staged: number;
  let events: string[];
  let isFull: boolean;
  let held: boolean;
  let digest: string;
  let [turn, reading] = [createLimit(1), createLimit(1)];
  let onRun: (words: readonly string[]) => void;
  const refuseFull = () => {
    if (isFull) throw new Failure("storage_full", "the disk is full");
  };
  let { records } = createBackupRecords();

  beforeEach(() => {
    clock = createFakeClock(1_000 * hour);
    digest = "same";
    [turn, reading] = [createLimit(1), createLimit(1)];
    onRun = () => undefined;
    [said, asked, staged, held, events, isFull] = [{}, [], 0, false, [], false];
    ({ records } = createBackupRecords(refuseFull));
  });

  function start() {
    const restic: Restic = {
      version: async () => "0.14.0",
      async run({ words, env }) {
        const [verb = ""] = words;
        onRun(words);
        asked.push(`${verb} ${env.RESTIC_REPOSITORY}`);
        const summary = '{"message_type":"summary","snapshot_id":"aa","total_bytes_processed":9,"data_added":3}';
        const time = new Date(clock.now()).toISOString();
        const row = JSON.stringify([{ id: "aabb", time, tags: ["berth-state"] }, generationRow(time)]);
        const usual = { backup: summary, snapshots: row }[verb] ?? "";
        return { ...good, stdout: usual, ...said[verb] };
      },
    };
    return createBackups({
      ...{ platform: noPlatform, images: noImages, dumps: noDumps, parts: [] },
      ...{ records, restic, installationId: "0123456789abcdef", clock, limits: backupLimits },
      ...{ turn, reading },
      gate: createGate({
        heldBy: () => (held ? "restored; first: berth restore --confirm" : undefined),
        clock,
        lookMs: 1_000,
      }),
      log: createLog(() => undefined, "error"),
      ...actsAlone(clock),
      isOurs: async () => false,
      randomBytes: (count) => new Uint8Array(count).fill(7),
      stateDigest: () => digest,
      stage: async () => {
        staged += 1;
        const close = async () => {
          staged -= 1;
        };
        return { folder: "/staged", close };
      },
      onCopied: async () => undefined,
      onEvent: async ({ actor, action }) => void events.push(`${actor} ${action}`),
    });
  }

  const settle = async () => {
    for (let turn = 0; turn < 200; turn++) await Promise.resolve();
  };

  test("are made at once, then at their time; a failed one is tried again sooner, and says since when", async () => {
    const backups = start();
    const stop = new AbortController();
    const running = backups.run(stop.signal);
    await backups.putTarget("disk", { url: "/srv/copies", every: "1h" }, "ann");
    await settle();
    expect(backups.listRuns(undefined)).toMatchObject([{ target: "disk", snapshot: "aabb", bytes: 9, added: 3 }]);
    expect(backups.failing()).toEqual([]);

    said = { backup: { ok: false, code: 1, cause: "no space left on device" } };
    pass(hour);
    await settle();
    const failedAt = clock.now();
    pass(backupLimits.retryMs);
    await settle();
    expect(backups.listRuns("disk").map(({ error }) => error !== undefined)).toEqual([true, true, false]);
    const error = "copying at target /srv/copies failed: no space left on device";
    expect(backups.failing()).toEqual([{ target: "disk", what: "state", sinceAt: failedAt, error }]);
    expect(backups.listTargets()).toMatchObject([{ name: "disk", last_error: error }]);
    expect(staged).toBe(0);

    said = {};
    pass(backupLimits.retryMs);
    await settle();
    expect(backups.failing()).toEqual([]);
    stop.abort();
    pass(hour);
    await running;
  });

  test("go on where a full disk keeps their records from being written", async () => {
    const backups = start();
    const stop = new AbortController();
    const running = backups.run(stop.signal);
    isFull = true;
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    await settle();
    isFull = false;
    pass(backupLimits.lookMs);
    await settle();
    expect(backups.listRuns("disk")).toHaveLength(1);
    stop.abort();
    pass(hour);
    await running;
  });

  test("changes of targets and each look at the recovery key are on record", async () => {
    const backups = start();
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    await backups.showKey("eve");
    await backups.removeTarget("disk", "ann");
    expect(events).toEqual(["ann backup.target.set", "eve backup.key.show", "ann backup.target.remove"]);
  });

  test("count only once the target has listed them", async () => {
    const backups = start();
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    said = { snapshots: { stdout: "[]" } };
    await backups.runNow(undefined);
    await settle();
    expect(backups.listRuns("disk")).toMatchObject([
      { error: "target /srv/copies does not list the snapshot aa that it has taken" },
    ]);
    expect(backups.listTargets()[0]?.last_success_at).toBeUndefined();
  });

  test("wait while a restore is not confirmed", async () => {
    const backups = start();
    held = true;
    const stop = new AbortController();
    const running = backups.run(stop.signal);
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    pass(2 * hour);
    await settle();
    expect(backups.listRuns("disk")).toEqual([]);
    expect(backups.listTargets()[0]?.held).toContain("berth restore --confirm");
    await expect(backups.runNow("disk")).rejects.toThrow("first: berth restore --confirm");
    stop.abort();
    pass(hour);
    await running;
  });

  test("follow each change of the state within a minute, and nothing is sent while nothing changes", async () => {
    digest = "one";
    const backups = start();
    const stop = new AbortController();
    const running = backups.run(stop.signal);
    await backups.putTarget("disk", { url: "/srv/copies", every: "6h" }, "ann");
    await settle();
    const copies = () => backups.listRuns("disk").length;
    for (let look = 0; look < 60; look++) {
      pass(backupLimits.stateLookMs);
      await settle();
    }
    expect(copies()).toBe(1);
    expect(backups.listTargets()[0]?.state_at).toBe(new Date(clock.now()).toISOString());
    digest = "two";
    pass(backupLimits.stateLookMs);
    await settle();
    expect(copies()).toBe(2);
    // The next change comes right after, and waits for its turn, at most a minute.
    digest = "three";
    let waited = 0;
    for (; copies() < 3 && waited < 120_000; waited += backupLimits.stateLookMs) {
      pass(backupLimits.stateLookMs);
      await settle();
    }
    expect(waited).toBeLessThanOrEqual(60_000 - backupLimits.stateLookMs);
    stop.abort();
    pass(hour);
    await running;
  });

  test("leave the list each hour, and their data goes once a day; at an append-only target nothing is removed", async () => {
    const backups = start();
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    await backups.putTarget("vault", { url: "/srv/vault", append_only: true }, "ann");
    asked = [];
    for (let turn = 0; turn < 24 * 4; turn++) {
      await backups.runNow(undefined);
      await settle();
      pass(hour / 4);
    }
    const count = (verb: string, place: string) =>
      asked.filter((words) => words.startsWith(`${verb} `) && words.includes(place)).length;
    expect([count("forget", "/srv/copies"), count("prune", "/srv/copies")]).toEqual([24, 1]);
    expect([count("forget", "/srv/vault"), count("prune", "/srv/vault"), count("backup", "/srv/vault")]).toEqual([
      0, 0, 96,
    ]);
  });

  test("leave no first pass over a volume at the target for longer than an hour", async () => {
    const backups = start();
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    await backups.runNow(undefined);
    await settle();
    const time = new Date(clock.now()).toISOString();
    const rows = [
      ...[{ id: "aabb", time, tags: ["berth-state"] }, generationRow(time)],
      ...["ccdd", "eeff"].map((id) => ({ id, time, tags: ["volume-first-pass", "scope=shop"] })),
    ];
    said = { snapshots: { stdout: JSON.stringify(rows) } };
    const ran: string[] = [];
    onRun = (words) => void ran.push(words.join(" "));
    pass(hour);
    await backups.runNow(undefined);
    await settle();
    expect(ran.filter((words) => words.startsWith("forget c"))).toEqual(["forget ccdd eeff"]);
  });

  test("go to a new place with a new recovery key, all of them again", async () => {
    const backups = start();
    const stop = new AbortController();
    const running = backups.run(stop.signal);
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    await settle();
    const old = await backups.showKey("ann");
    asked = [];
    const { key, targets: moved } = await backups.newKey("ann");
    expect([key === old, key.split(".")[0] === old.split(".")[0], moved]).toEqual([false, false, ["disk"]]);
    await settle();
    expect(await backups.showKey("ann")).toBe(key);
    expect(asked.filter((words) => words.startsWith("backup "))).toEqual([`backup /srv/copies/${key.split(".")[0]}`]);
    expect(events).toContain("ann backup.key.new");
    stop.abort();
    pass(hour);
    await running;
  });

  test("remove old ones once a day, and stay good where that fails", async () => {
    const backups = start();
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    said = { forget: { ok: false, cause: "permission denied" } };
    for (let turn = 0; turn < 2; turn++) {
      await backups.runNow(undefined);
      await settle();
    }
    expect(asked.filter((words) => words.startsWith("forget"))).toHaveLength(2);
    expect(backups.failing()).toEqual([]);
    said = {};
    for (let turn = 0; turn < 3; turn++) {
      await backups.runNow(undefined);
      await settle();
    }
    expect(asked.filter((words) => words.startsWith("forget"))).toHaveLength(3);
  });

  test("do not wait for a drill that restores, nor do those of volumes; what locks the repository does", async () => {
    const backups = start();
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    const endDrill = await enter(reading);
    asked = [];
    await backups.runNow(undefined);
    await settle();
    expect(backups.listRuns("disk")).toHaveLength(1);
    const isFree = await Promise.race([turn(async () => true), settle()]);
    const locking = () => asked.filter((words) => /^(?:forget|prune) /.test(words)).length;
    expect([isFree, locking()]).toEqual([true, 0]);
    endDrill();
    await settle();
    expect(locking()).toBe(2);
  });

  test("a repository that is locked by a process that is gone is unlocked once", async () => {
    const backups = start();
    await backups.putTarget("disk", { url: "/srv/copies" }, "ann");
    said = { backup: { ok: false, trouble: "locked", cause: "repository is already locked" } };
    asked = [];
    await backups.runNow(undefined);
    await settle();
    expect(asked.map((words) => words.split(" ")[0])).toEqual(["snapshots", "backup", "list", "unlock", "backup"]);
    expect(backups.listRuns("disk")[0]?.error).toContain("already locked");
  });

  test("a target of another server is not added, and none is stored that cannot be opened", async () => {
    const backups = start();
    said = { cat: { ok: false, trouble: "wrong_key", cause: "wrong password" } };
    await expect(backups.putTarget("disk", { url: "/srv/copies" }, "ann")).rejects.toThrow(
      "another key opens what is there",
    );
    said = { cat: { ok: false, trouble: "no_repository" }, init: { ok: false, cause: "read-only file system" } };
    await expect(backups.putTarget("disk", { url: "/srv/copies" }, "ann")).rejects.toThrow("read-only file system");
    expect(backups.listTargets()).toEqual([]);
    await expect(backups.putTarget("Disk!", { url: "/srv/copies" }, "ann")).rejects.toThrow(
      "is not the name of a target",
    );
    await expect(backups.putTarget("disk", { url: "/srv/copies", every: "1s" }, "ann")).rejects.toMatchObject({
      code: "invalid",
    });
  });
});
