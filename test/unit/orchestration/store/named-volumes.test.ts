import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../../../src/base/sqlite/migrate.ts";
import { stateMigrations } from "../../../../src/orchestration/store/migrations/all.ts";
import { createNamedVolumes } from "../../../../src/orchestration/store/named-volumes.ts";

/** A database as the version before left it. */
function oldDatabase(): Database {
  const db = new Database(":memory:");
  migrate(db, "old.db", stateMigrations.slice(0, 3));
  return db;
}

function stored(db: Database, kind: string, name: string, spec: unknown): void {
  db.query(
    "insert into manifests (kind, scope, name, spec, sealed, revision, generation, created_at, updated_at)" +
      " values (?, 'shop', ?, ?, 0, 1, 1, 5, 6)",
  ).run(kind, name, JSON.stringify(spec));
}

test("volumes that a database of before names keep their plain name", () => {
  const db = oldDatabase();
  const asset = "${" + "asset.web.conf}:/etc/web.conf:ro";
  stored(db, "deployment", "web", { volumes: ["data:/data", "data:/more:ro", "/srv/x:/x", asset] });
  stored(db, "cronjob", "nightly", { schedule: "@daily", job: { volumes: ["berth-shop-db-backups:/backups"] } });
  stored(db, "job", "bare", { image: "a" });
  stored(db, "ingress", "web", { volumes: ["not:/one"] });
  db.query(
    "insert into releases (id, kind, scope, name, status, cause, good, hash, revision, image, started_at, spec, sealed, log)" +
      " values ('r1', 'deployment', 'shop', 'web', 'succeeded', 'apply', 1, 'h', 1, 'a', 4, ?, 0, '')",
  ).run(JSON.stringify({ volumes: ["old:/data"] }));
  migrate(db, "old.db", stateMigrations);
  const volumes = createNamedVolumes(db);
  const told = volumes.all().map(({ kind, name, owner, volume, plain }) => [kind, name, owner, volume, plain]);
  expect(told).toEqual([
    ["cronjob", "nightly", "shop", "berth-shop-db-backups", true],
    ["deployment", "web", "shop", "data", true],
    ["deployment", "web", "shop", "old", true],
  ]);
  expect(volumes.isPlain("shop", "data")).toBe(true);
  expect(volumes.isPlain("blog", "data")).toBe(false);
});

test("a use is kept as it was first written, until it is removed", () => {
  const db = new Database(":memory:");
  migrate(db, "new.db", stateMigrations);
  const volumes = createNamedVolumes(db);
  const use = { kind: "deployment", scope: "shop", name: "web", owner: "shop", volume: "data", createdAt: 1 };
  volumes.put({ ...use, plain: true });
  volumes.put({ ...use, plain: false });
  expect(volumes.list(use)).toEqual([{ ...use, plain: true }]);
  expect(volumes.plainUsers("data")).toHaveLength(1);
  volumes.remove(use, use);
  expect(volumes.users("shop", "data")).toEqual([]);
});
