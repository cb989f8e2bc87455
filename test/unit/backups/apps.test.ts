import { expect, test } from "bun:test";
import type { AppVolumes } from "../../../src/backups/service/platform.ts";
import { runsId, type StoredRun, type StoredTarget } from "../../../src/backups/service/records.ts";
import { createVolumeRuns } from "../../../src/backups/service/volume-runs.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { createLimit } from "../../../src/base/words/limit.ts";
import { createBackupRecords, noDumps, noPlatform } from "../../support/backup-parts.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";

const target = (name: string): StoredTarget => ({
  ...{ name, url: `/${name}`, credentials: {}, everyMs: 1, keep: "7d", createdAt: 0, prunedAt: undefined },
});
const run = (startedAt: number, error?: string): StoredRun => ({
  ...{
    startedAt,
    endedAt: startedAt + 1,
    snapshot: "a",
    added: 1,
    bytes: error === undefined ? 500 : undefined,
    error,
  },
});
const app = (name: string, policy: AppVolumes["policy"], ordinal?: number): AppVolumes => {
  const subject = { scope: "shop", kind: "statefulset", name, claim: "data", ordinal };
  return {
    scope: "shop",
    kind: "statefulset",
    name,
    policy,
    updatedAt: 0,
    volumes: [{ subject, volume: `v-${name}` }],
  };
};
const daily = { everyMs: 1, everyText: "1d", keep: undefined, pre: [], post: [], exclude: [] };

test("of each app with volumes, whether it is protected, and the newest copy of each volume at each target", async () => {
  const { records } = createBackupRecords();
  for (const name of ["disk", "far"]) await records.putTarget(target(name));
  const past: [string, string, StoredRun[]][] = [
    ["disk", "shop/db/data/0", [run(3_000)]],
    ["far", "shop/db/data/0", [run(5_000, "no route"), run(4_000, "no route"), run(1_000)]],
    // It was protected once: what was copied then is still there, and that nothing was copied since is no failure.
    ["disk", "shop/old/data", [run(9_000, "gone"), run(2_000)]],
  ];
  const runs = new Map(past.map(([name, what, rows]) => [runsId(name, what), rows]));
  const volumes = createVolumeRuns({
    records: { ...records, runs: (id) => runs.get(id) ?? [] },
    dumps: noDumps,
    platform: {
      ...noPlatform,
      apps: () => [
        app("db", { ...daily, target: undefined }, 0),
        app("old", undefined),
        app("lost", { ...daily, target: "moon" }),
        app("new", { ...daily, target: "disk" }),
      ],
    },
    still: { read: () => Promise.reject(new Error("nothing is copied here")), recover: async () => undefined },
    repositoryOf: () => Promise.reject(new Error("nothing is copied here")),
    look: async () => [],
    isFresh: () => false,
    looked: () => false,
    ...{ copying: createLimit(1), clock: createFakeClock(), log: silentLog },
    limits: backupLimits,
  });
  const at = (ms: number) => new Date(ms).toISOString();
  const shown = volumes
    .apps()
    .map(({ name, every, volumes: [volume] }) => [name, every, volume?.volume, volume?.copies]);
  expect(JSON.parse(JSON.stringify(shown))).toEqual([
    [
      "db",
      "1d",
      "data/0",
      [
        { target: "disk", at: at(3_000), bytes: 500 },
        { target: "far", at: at(1_000), bytes: 500, failing_since: at(4_000), error: "no route" },
      ],
    ],
    ["old", null, "data", [{ target: "disk", at: at(2_000), bytes: 500 }]],
    ["lost", "1d", "data", [{ target: "moon", error: 'there is no target "moon"' }]],
    ["new", "1d", "data", [{ target: "disk" }]],
  ]);
});
