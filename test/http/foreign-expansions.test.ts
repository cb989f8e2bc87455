import { afterEach, beforeEach, expect, test } from "bun:test";
import { fixtureImage } from "../support/manifests.ts";
import { type Ask, plane } from "../support/plane.ts";
import { printing, testPlugins, writePlugin } from "../support/plugins.ts";
import { type World, world } from "../support/world.ts";

// What plugins that were written for other controllers with the same protocol expand their blocks to, field by field.

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world({ plugins: (layout) => testPlugins(layout) });
  ask = plane(it);
});
afterEach(() => it.close());

const secret = "0123456789abcdef".repeat(4);

const postgres = [
  {
    kind: "asset",
    scope: "data",
    name: "main",
    spec: {
      files: {
        entrypoint: "#!/bin/bash\nexec postgres\n",
        pg_overrides_conf: "max_connections = 50\n",
        streaming_conf: "wal_level = replica\n",
        init_replication_sh: "#!/bin/bash\n",
      },
    },
  },
  {
    kind: "statefulset",
    scope: "data",
    name: "main",
    spec: {
      image: fixtureImage,
      replicas: 3,
      ports: ["5432"],
      command: ["bash", "/usr/local/bin/postgres-entrypoint"],
      env: {
        POSTGRES_USER: "postgres",
        POSTGRES_DB: "appdata",
        POSTGRES_PASSWORD: secret,
        POSTGRES_INITDB_ARGS: "--locale=C.UTF-8 --encoding=UTF8",
        PGDATA: "/var/lib/postgresql/data/pgdata",
        PG_PORT: "5432",
        PG_SCOPE_SUFFIX: ".data.berth",
        PG_REPLICATION_USER: "replicator",
        PG_REPLICATION_PASSWORD: secret,
      },
      volumes: [
        "${asset.data.main.entrypoint}:/usr/local/bin/postgres-entrypoint:ro",
        "${asset.data.main.init_replication_sh}:/docker-entrypoint-initdb.d/replication.sh:ro",
        "${asset.data.main.pg_overrides_conf}:/etc/postgresql/overrides.conf:ro",
        "${asset.data.main.streaming_conf}:/etc/postgresql/streaming.conf:ro",
        "/opt/controller/backups/data/main:/backups:rw",
      ],
      volume_claims: [{ name: "data", mount_path: "/var/lib/postgresql/data" }],
      health_check: "pg_isready -U postgres -d appdata -p 5432",
    },
  },
];

const postgresActions = [
  { type: "config_set", scope: "data", name: "main", kv: { POSTGRES_PASSWORD: secret } },
  { type: "config_set", scope: "data", name: "main", kv: { POSTGRES_REPLICATION_PASSWORD: secret } },
  { type: "config_set", scope: "data", name: "main", kv: { PG_PRIMARY_ORDINAL: "0" }, skip_restart: true },
  { type: "config_set", scope: "data", name: "main", kv: { BACKUP_KEEP: "30" } },
];

const redis = [
  { kind: "asset", scope: "data", name: "cache", spec: { files: { redis_conf: "port 6379\n", entrypoint: "exec\n" } } },
  {
    kind: "statefulset",
    scope: "data",
    name: "cache",
    spec: {
      image: fixtureImage,
      replicas: 1,
      ports: ["6379"],
      command: ["sh", "/usr/local/bin/redis-entrypoint"],
      volumes: [
        "${asset.data.cache.redis_conf}:/etc/redis/redis.conf:ro",
        "${asset.data.cache.entrypoint}:/usr/local/bin/redis-entrypoint:ro",
      ],
      volume_claims: [{ name: "data", mount_path: "/data" }],
      probes: {
        liveness: { tcp_socket: { port: 6379 }, period: "10s", failure_threshold: 3 },
        readiness: {
          exec: { command: ["redis-cli", "ping"] },
          period: "5s",
          failure_threshold: 1,
          success_threshold: 2,
        },
      },
    },
  },
];

const sentinel = [
  { kind: "asset", scope: "data", name: "quorum", spec: { files: { sentinel_entrypoint: "exec\n" } } },
  {
    kind: "statefulset",
    scope: "data",
    name: "quorum",
    spec: {
      image: fixtureImage,
      replicas: 3,
      ports: ["26379"],
      command: ["bash", "/usr/local/bin/sentinel-entrypoint"],
      env: { MONITOR_SCOPE: "data", MONITOR_NAME: "cache", REDIS_REPLICAS: "2" },
      env_from: ["data/cache"],
      volumes: ["${asset.data.quorum.sentinel_entrypoint}:/usr/local/bin/sentinel-entrypoint:ro"],
      volume_claims: [{ name: "state", mount_path: "/var/lib/sentinel" }],
    },
  },
];

const captureJob = {
  type: "apply_manifest",
  scope: "data",
  name: "main",
  summary: "job manifest applied: data/main.bk.b001",
  manifest: {
    kind: "job",
    scope: "data",
    name: "main.bk.b001",
    spec: {
      image: fixtureImage,
      command: ["bash", "-c", "pg_dump -h main-1.data.berth appdata"],
      env: { PGPASSWORD: secret },
      volumes: ["/opt/controller/backups/data/main:/backups:rw"],
      labels: { "controller.role": "backup" },
      successful_history_limit: 3,
      failed_history_limit: 3,
    },
  },
};

const exposed = {
  type: "apply_manifest",
  scope: "data",
  name: "main",
  manifest: { ...postgres[1], spec: { ...postgres[1]?.spec, replicas: 1, ports: ["0.0.0.0:5432"] } },
};

function plugin(name: string, data: unknown, commands: Record<string, unknown> = {}): void {
  const printed = Object.entries(commands).map(([command, told]) => [command, printing({ status: "ok", data: told })]);
  writePlugin(it.layout, name, {
    yml: `name: ${name}\nversion: "1.0"\n`,
    commands: { expand: printing({ status: "ok", data }), ...Object.fromEntries(printed) },
  });
}

const applied = (kind: string, name: string) =>
  ask("POST /apply", { kind, scope: "data", name, spec: { replicas: 1 } });

test("a PostgreSQL block applies, its health check being a shell command", async () => {
  plugin(
    "postgres",
    { manifests: postgres, actions: postgresActions },
    {
      capture: { message: "captured", actions: [captureJob] },
      expose: { message: "exposed", actions: [exposed] },
    },
  );
  const { status, error, data } = await applied("postgres", "main");
  expect({ status, error }).toEqual({ status: 200, error: "" });
  expect(data.warnings).toEqual([
    "statefulset/data/main: health_check: stored; the command is not run, probes.readiness.exec is what checks a pod",
  ]);
  expect(it.store.config.bucket("data", "main")).toEqual({
    POSTGRES_PASSWORD: secret,
    POSTGRES_REPLICATION_PASSWORD: secret,
    PG_PRIMARY_ORDINAL: "0",
    BACKUP_KEEP: "30",
  });
  expect((await ask("POST /plugin/postgres/capture", { args: [] })).data).toMatchObject({
    applied: ["job manifest applied: data/main.bk.b001"],
  });
  expect((await ask("POST /plugin/postgres/expose", { args: [] })).status).toBe(200);
  const key = { kind: "statefulset", scope: "data", name: "main" };
  expect(it.store.manifests.get(key)?.spec).toMatchObject({ ports: ["0.0.0.0:5432"] });
});

test("a Redis block applies, with the sentinel that reads its config", async () => {
  plugin("redis", { manifests: redis, actions: null });
  expect((await applied("redis", "cache")).status).toBe(200);
  plugin("sentinel", {
    manifests: sentinel,
    actions: [{ type: "config_unset", scope: "data", name: "quorum", keys: ["A"] }],
  });
  expect((await applied("sentinel", "quorum")).status).toBe(200);
});

test("the health check of a deployment stays a path", async () => {
  const spec = { image: fixtureImage, health_check: "curl localhost" };
  const { status, error } = await ask("POST /apply", { kind: "deployment", scope: "data", name: "web", spec });
  expect(status).toBe(400);
  expect(error).toContain('spec.health_check: "curl localhost" must start with "/"');
});
