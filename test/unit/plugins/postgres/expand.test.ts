import { expect, test } from "bun:test";
import type { Block } from "../../../../plugins/kit/block.ts";
import { expandPostgres } from "../../../../plugins/postgres/expand.ts";

let made = 0;
const context = { envPrefix: "BERTH", newPassword: () => `secret${++made}` };
const complete = {
  POSTGRES_PASSWORD: "a",
  POSTGRES_MAINTENANCE_PASSWORD: "b",
  PG_PRIMARY_ORDINAL: "0",
  PG_EPOCH: "1",
  PG_BACKUPS_KEEP: "7",
};

function block(spec: Record<string, unknown> = {}, config: Record<string, string> = complete): Block {
  return { kind: "postgres", scope: "data", name: "main", spec, config };
}

function expanded(spec: Record<string, unknown> = {}, config: Record<string, string> = complete) {
  const { manifests, actions } = expandPostgres(block(spec, config), context);
  const of = (kind: string) => manifests.find((manifest) => manifest.kind === kind)?.spec as never;
  return { manifests, actions, asset: of("asset"), statefulset: of("statefulset"), cronjob: of("cronjob") };
}

test.each([
  ["30 3 * * *", undefined, { every: "24h", keep: "7d" }, "86400"],
  ["@hourly", 48, { every: "1h", keep: "2d" }, "3600"],
  ["*/20 * * * *", 3, { every: "20m", keep: "1d" }, "1200"],
  ["0 4 * * 0", 4, { every: "168h", keep: "28d" }, "604800"],
  ["0 4,16 * * 1-5", 2, { every: "12h", keep: "1d" }, "43200"],
  ["@monthly", 3, { every: "576h", keep: "84d" }, "2073600"],
  ["@yearly", 2, { every: "576h", keep: "730d" }, "2073600"],
])("a schedule %s of backups is a backup too, and the note says which", (schedule, keep, wanted, age) => {
  const { manifests, warnings, actions } = expandPostgres(block({ backups: { schedule, keep } }), context);
  const pre = ["sh", "/berth/tools.sh", "due_job", age, String(keep ?? 7)];
  const [, statefulset, cronjob] = manifests;
  expect(statefulset?.spec.backup).toEqual({ ...wanted, volumes: ["berth-data-main-backups"], pre });
  expect([cronjob?.kind, cronjob?.spec.schedule]).toEqual(["cronjob", schedule]);
  expect(warnings).toEqual([expect.stringContaining(`backup: {every: ${wanted.every}, keep: ${wanted.keep}}`)]);
  expect(actions.filter(({ type }) => type !== "config_set")).toEqual([]);
});

test("the field backup is what it says, whatever the schedule", () => {
  const { manifests, warnings } = expandPostgres(
    block({ backup: { every: "6h" }, backups: { schedule: "@daily" } }),
    context,
  );
  expect([manifests[1]?.spec.backup, warnings]).toEqual([expect.objectContaining({ every: "6h" }), undefined]);
  expect(expandPostgres(block({ backups: { schedule: "at night" } }), context).warnings).toBeUndefined();
});

test("an empty block is one primary with the defaults", () => {
  const { manifests, statefulset, actions } = expanded();
  expect(manifests.map(({ kind, scope, name }) => [kind, scope, name])).toEqual([
    ["asset", "data", "main"],
    ["statefulset", "data", "main"],
  ]);
  expect(statefulset).toMatchObject({ image: "postgres:17", replicas: 1, ports: ["5432"] });
  expect(actions).toEqual([]);
});

test("the first apply makes what the config lacks, once, without rolling anything", () => {
  const { actions } = expanded({ users: ["reporting"], backups: { keep: 3 } }, {});
  expect(actions).toMatchObject([{ type: "config_set", scope: "data", name: "main", skip_restart: true }]);
  const { kv, summary } = actions[0] as { kv: Record<string, string>; summary: string };
  expect(Object.keys(kv).sort()).toEqual([
    "PG_BACKUPS_KEEP",
    "PG_EPOCH",
    "PG_PRIMARY_ORDINAL",
    "POSTGRES_MAINTENANCE_PASSWORD",
    "POSTGRES_PASSWORD",
    "POSTGRES_PASSWORD_REPORTING",
  ]);
  expect(new Set([kv.POSTGRES_PASSWORD, kv.POSTGRES_MAINTENANCE_PASSWORD, kv.POSTGRES_PASSWORD_REPORTING]).size).toBe(
    3,
  );
  expect(summary).not.toContain("secret");
  expect(expanded({ users: ["reporting"], backups: { keep: 3 } }, kv).actions).toEqual([]);
});

test("no secret stands in a manifest, and none of the config's words does", () => {
  const config = { ...complete, POSTGRES_PASSWORD: "hunter2hunter2", POSTGRES_MAINTENANCE_PASSWORD: "topsecret" };
  const { manifests } = expanded({ backups: { schedule: "@daily" } }, config);
  expect(JSON.stringify(manifests)).not.toMatch(/hunter2|topsecret/);
});

test("after a promotion the manifests are the same: containers are not replaced for it", () => {
  const moved = { ...complete, PG_PRIMARY_ORDINAL: "1", PG_EPOCH: "9" };
  expect(expanded({ replicas: 2 }, moved)).toEqual(expanded({ replicas: 2 }));
});

test("the image's own entrypoint plays no part", () => {
  const { statefulset, cronjob } = expanded({ backups: { schedule: "@daily" } });
  expect(statefulset).toMatchObject({
    command: ["/berth/serve.sh"],
    docker_options: ["--entrypoint sh", "--shm-size 256m"],
  });
  expect(cronjob).toMatchObject({
    job: { command: ["/berth/tools.sh", "job", "7"], docker_options: ["--entrypoint sh"] },
  });
});

test("users, databases and extensions are lines that a primary makes true", () => {
  const { asset } = expanded({
    database: "shop",
    user: "shop",
    users: ["reporting"],
    extensions: ["pgcrypto"],
    databases: [{ name: "stats", owner: "reporting", extensions: ["uuid-ossp"] }, { name: "logs" }],
  });
  expect((asset as { files: Record<string, string> }).files.ensure_conf?.trim().split("\n")).toEqual([
    "user shop POSTGRES_PASSWORD",
    "user reporting POSTGRES_PASSWORD_REPORTING",
    "database shop shop",
    "database stats reporting",
    "database logs shop",
    "extension shop pgcrypto",
    "extension stats uuid-ossp",
  ]);
});

test("settings are quoted, whatever they hold", () => {
  const { asset } = expanded({ settings: { log_line_prefix: "it's \\ %m", max_connections: 50 } });
  expect((asset as { files: Record<string, string> }).files.settings_conf).toBe(
    "wal_keep_size = '512MB'\nlog_line_prefix = 'it''s \\\\ %m'\nmax_connections = '50'\n",
  );
});

test("fields of a statefulset are handed on, the operator's env wins, further volumes stay", () => {
  const { statefulset } = expanded({
    resources: { limits: { memory: "1Gi" } },
    rollout: { progress_deadline: "2h" },
    env: { PG_LOCALE: "de_DE.UTF-8", X: "1" },
    volumes: ["/srv/dumps:/dumps"],
    docker_options: ["--cpu-shares 512"],
    ports: ["127.0.0.1:5432:5432"],
  });
  expect(statefulset).toMatchObject({
    resources: { limits: { memory: "1Gi" } },
    rollout: { progress_deadline: "2h" },
    env: { PG_LOCALE: "de_DE.UTF-8", X: "1" },
    docker_options: ["--entrypoint sh", "--shm-size 256m", "--cpu-shares 512"],
    ports: ["127.0.0.1:5432:5432"],
  });
  expect((statefulset as { volumes: string[] }).volumes.slice(-2)).toEqual([
    "berth-data-main-backups:/backups",
    "/srv/dumps:/dumps",
  ]);
});

test("the schedule is a cron job that reads the config of the block", () => {
  const { manifests, cronjob } = expanded({ backups: { schedule: "30 3 * * *", timezone: "Europe/Berlin" } });
  expect(manifests[2]).toMatchObject({ kind: "cronjob", scope: "data", name: "main.backup" });
  expect(cronjob).toMatchObject({
    schedule: "30 3 * * *",
    timezone: "Europe/Berlin",
    concurrency_policy: "Forbid",
    job: { env_from: ["data/main"], timeout: "6h" },
  });
});

test("with point_in_time the server archives, on standbys too, and without it nothing is set", () => {
  const { asset, statefulset } = expanded({ point_in_time: { every: "12h" } });
  const { settings_conf: settings } = (asset as { files: Record<string, string> }).files;
  expect(settings).toContain("archive_mode = 'always'\narchive_command = 'sh /berth/wal.sh archive %p %f'\n");
  expect(statefulset).toMatchObject({ env: { PG_BASE_SECONDS: "43200" } });
  expect(JSON.stringify(expanded({}).statefulset)).not.toContain("PG_BASE_SECONDS");
});

const refused: [string, Record<string, unknown>, string][] = [
  ["no replica", { replicas: 0 }, "spec.replicas: expected a whole number from 1 to 16, got 0"],
  ["a text for a number", { replicas: "2" }, 'spec.replicas: expected a whole number from 1 to 16, got "2"'],
  ["a taken user", { user: "postgres" }, 'spec.user: "postgres" is taken by the server itself; choose another name'],
  ["a taken database", { databases: [{ name: "template1" }] }, 'spec.databases: "template1" is taken by the server'],
  ["a user twice", { users: ["app"] }, 'spec.users: "app" is there twice'],
  [
    "an unknown owner",
    { databases: [{ name: "x", owner: "nobody" }] },
    'spec.databases[0].owner: "nobody" is not a user',
  ],
  ["SQL in a name", { database: 'a"; drop' }, "spec.database: "],
  ["a shell in an extension", { extensions: ["a;b"] }, "spec.extensions[0]: "],
  ["a setting of ours", { settings: { port: "1" } }, "spec.settings.port: is set by the plugin; leave it out"],
  ["two lines in a setting", { settings: { a: "x\ny" } }, "spec.settings.a: must be one line"],
  ["base backups each minute", { point_in_time: { every: "1m" } }, "spec.point_in_time.every: "],
  ["weeks to keep", { point_in_time: { keep: "4w" } }, 'spec.point_in_time.keep: "4w" is not a number of days'],
  [
    "another archive",
    { point_in_time: {}, settings: { archive_command: "x" } },
    "spec.settings.archive_command: is set by point_in_time; leave it out",
  ],
  ["no setting's name", { settings: { "a b": "x" } }, "spec.settings.a b: is not the name of a setting"],
];
for (const [what, spec, text] of refused) {
  test(`refused: ${what}`, () => expect(() => expanded(spec)).toThrow(text));
}

test("fewer replicas never take the primary away", () => {
  const config = { ...complete, PG_PRIMARY_ORDINAL: "1" };
  expect(() => expanded({ replicas: 1 }, config)).toThrow("spec.replicas: pod 1 is primary and 1 would remove it");
  expect(expanded({ replicas: 2 }, config).actions).toEqual([]);
});

test("fields of other plugins are taken under their own names, and not beside the name that they have here", () => {
  const other = expanded({ pg_config: { work_mem: "8MB" }, initdb_locale: "de_DE.UTF-8", initdb_encoding: "LATIN1" });
  const own = expanded({ settings: { work_mem: "8MB" }, locale: "de_DE.UTF-8", encoding: "LATIN1" });
  expect(other.manifests).toEqual(own.manifests);
  expect(() => expanded({ pg_config: {}, settings: {} })).toThrow("pg_config: is settings in other words");
});
