import type { BackupRun, BackupTarget } from "../../../src/backups/api/backups.ts";
import type { Rehearsal } from "../../../src/backups/api/rehearsals.ts";
import type { PlannedRestore, Restore } from "../../../src/backups/api/restore.ts";
import type { App } from "../../../src/observability/api/app-model.ts";
import { appFixture, overviewFixture } from "./fixtures.ts";

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();

const noRoute = "cannot connect to backup.example.com:22: no route to host";

const appWith = (name: string, backup: App["backup"]) => appFixture(name, { kind: "statefulset", backup });

/** Apps whose copies fail, are there, are not wanted, and are not there yet. */
export const backedUpApps: App[] = [
  appWith("db", {
    every: "6h",
    drill: {
      ...{ result: "proved", started_at: at(260_000), ended_at: at(259_940), next_at: at(-340_000) },
      ...{ copy_at: at(270_000), recovery_point_seconds: 10_000, recovery_seconds: 41.2 },
    },
    volumes: [
      {
        volume: "data/0",
        copies: [
          { target: "disk", at: at(10_800), bytes: 4_812_345_678 },
          { target: "offsite", at: at(190_000), bytes: 4_700_000_000, failing_since: at(97_000), error: noRoute },
        ],
      },
    ],
  }),
  appWith("files", {
    every: "1d",
    drill: {
      ...{ result: "failed", started_at: at(80_000), ended_at: at(79_940), next_at: at(-6_000) },
      why: "it ended with exit code 1; it printed last: no such table: media",
    },
    target: "disk",
    volumes: [
      { volume: "media", copies: [{ target: "disk", at: at(50_000), bytes: 912_000_000 }] },
      { volume: "thumbs", copies: [{ target: "disk", at: at(49_000), bytes: 23_000_000 }] },
    ],
  }),
  appWith("search", { volumes: [{ volume: "index/0", copies: [] }] }),
  appWith("new", {
    ...{ every: "1d", target: "disk", drill: { next_at: at(-80_000) } },
    volumes: [{ volume: "data/0", copies: [{ target: "disk" }] }],
  }),
];

export const backupOverview = overviewFixture({ apps: backedUpApps, problems: [] });

const target: BackupTarget = {
  name: "disk",
  url: "/mnt/disk/copies",
  every: "1h",
  keep: "24h 7d 4w 12m",
  created_at: at(9_000_000),
  size_bytes: 18_400_000_000,
  growth_bytes: 212_000_000,
  max_size_bytes: 53_687_091_200,
  checked_at: at(200_000),
  state_at: at(20),
  last_success_at: at(1_500),
  next_at: at(-2_100),
};
export const targetsFixture: { targets: BackupTarget[] } = {
  targets: [
    target,
    {
      ...target,
      name: "offsite",
      url: "sftp://berth@backup.example.com/srv/copies",
      append_only: true,
      size_bytes: 16_100_000_000,
      growth_bytes: 190_000_000,
      max_size_bytes: undefined,
      state_at: at(98_000),
      last_success_at: at(98_000),
      last_error: noRoute,
      failing_since: at(97_500),
      volume_errors: [`shop/db/data/0: ${noRoute}`],
      next_at: at(-200),
    },
  ],
};

const run = { target: "disk", started_at: at(1_500), ended_at: at(1_496) };
export const runsFixture: { runs: BackupRun[] } = {
  runs: [
    { ...run, target: "offsite", what: "state", started_at: at(400), ended_at: at(385), error: noRoute },
    { ...run, what: "state", snapshot: "0a1b2c3d4e5f", bytes: 3_400_000, added: 12_000 },
    {
      ...run,
      what: "shop/db/data/0",
      started_at: at(10_800),
      ended_at: at(10_722),
      snapshot: "5f4e3d2c1b0a",
      bytes: 4_812_345_678,
      added: 61_000_000,
      paused_ms: 1_310,
    },
  ],
};

export const restoreFixture: Restore = {
  id: "r1",
  group: "g1",
  what: "shop/db/data/0",
  way: "in_place",
  volume: "berth-shop-db-data-0",
  target: "disk",
  snapshot: "5f4e3d2c1b0a",
  at: at(170_000),
  bytes: 4_690_000_000,
  state: "done",
  started_at: at(160_000),
  ended_at: at(159_900),
  kept_until: at(-440_000),
};

const volumeCopy = (
  secondsAgo: number,
  target: string,
  claim: string,
  { name = "db", ordinal = undefined as number | undefined } = {},
) => ({
  ...{ target, id: `${target}${claim}${secondsAgo}`.padEnd(64, "0"), at: at(secondsAgo), what: "a volume" },
  volume: { scope: "shop", kind: "statefulset", name, claim, ordinal },
});

/** Copies of an app with one volume at two targets, of one with two volumes, and of one that was deleted. */
const snapshotsFixture = {
  snapshots: [
    ...[10_800, 32_400, 97_200, 170_000].map((ago) => ({
      ...volumeCopy(ago, "disk", "data", { ordinal: 0 }),
      ...(ago === 10_800 ? { id: "5f4e3d2c1b0a".padEnd(64, "0") } : {}),
    })),
    volumeCopy(190_000, "offsite", "data", { ordinal: 0 }),
    volumeCopy(50_000, "disk", "media", { name: "files" }),
    volumeCopy(49_000, "disk", "thumbs", { name: "files" }),
    volumeCopy(900_000, "disk", "data", { name: "old", ordinal: 0 }),
    { target: "disk", id: "0a1b2c3d4e5f", at: at(1_500), what: "state" },
  ],
  unreachable: [{ target: "far", why: noRoute }],
};

const planned: PlannedRestore = {
  ...{ what: "shop/db/data/0", way: "in_place", volume: "berth-shop-db-data-0", target: "disk" },
  ...{ snapshot: "5f4e3d2c1b0a", at: at(10_800), bytes: 4_812_345_678, replaces: true },
};

const begun: Restore = {
  ...planned,
  ...{ id: "r2", group: "g2", state: "fetching", started_at: at(2) },
};

/** A restore in place as the server answers each step of it. */
export const restoreAnswers = {
  plan: { volumes: [planned], at: at(0), unreachable: [] },
  begun: { group: "g2", restores: [begun] },
  done: { restores: [{ ...begun, state: "done", ended_at: at(0), kept_until: at(-604_800) }] },
  missing: {
    ...{ at: at(0), unreachable: [], uncopied: ["shop/search/index/0"] },
    volumes: [{ ...planned, way: "missing", replaces: false } as const],
  },
  undone: { restores: [{ ...begun, state: "undone", ended_at: at(0) }] },
};

const rehearsed = { kind: "statefulset", copy_at: at(11_000), data_age_seconds: 10_000 };
/** One under way, and one whose release command met data that it cannot change. */
export const rehearsalsFixture: { rehearsals: Rehearsal[] } = {
  rehearsals: [
    { id: "h2", actor: "pat:a1b2c3", started_at: at(20), apps: [], left_out: [] },
    {
      ...{ id: "h1", actor: "operator", started_at: at(900), ended_at: at(840) },
      apps: [
        { ...rehearsed, app: "shop/db", beside: true, result: "passed", seconds: 4.2 },
        { kind: "deployment", app: "shop/new", beside: false, result: "started", seconds: 2, empty: ["shop/new/data"] },
        {
          ...{ ...rehearsed, app: "shop/files", beside: false, result: "failed" },
          why: "its release command ended with exit code 3; it printed last: no such table: media",
          release: { exit_code: 3, output: "no such table: media" },
        },
      ],
      left_out: [{ ref: "ingress/shop/files", why: "only deployments and statefulsets are rehearsed" }],
    },
  ],
};

export const backupAnswers = {
  "GET /rehearsals": rehearsalsFixture,
  "GET /backups/snapshots": snapshotsFixture,
  "GET /overview": backupOverview,
  "GET /backups/targets": targetsFixture,
  "GET /backups/runs": runsFixture,
  "GET /backups/restores": { restores: [restoreFixture] },
};
