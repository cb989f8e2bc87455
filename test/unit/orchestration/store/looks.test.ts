import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { migrate } from "../../../../src/base/sqlite/migrate.ts";
import { stateMigrations } from "../../../../src/orchestration/store/migrations/all.ts";
import { statusState } from "../../../../src/orchestration/store/migrations/0020-status-state.ts";
import { createLooks } from "../../../../src/orchestration/store/looks.ts";
import type { Look } from "../../../../src/orchestration/store/look-records.ts";
import type { Store } from "../../../../src/orchestration/store/store.ts";
import { openTestStore, type TestRoot, testRoot } from "../../../support/store-root.ts";

const web = { kind: "deployment", scope: "shop", name: "web" } as const;
const page = { kind: "asset", scope: "shop", name: "page" } as const;
const nightly = { kind: "cronjob", scope: "shop", name: "nightly" } as const;

const look: Look = {
  phase: "failed",
  revision: 7,
  generation: 8,
  replicas: 2,
  error: "no such image",
  unready: "1/2 ready",
  memory: { goodGeneration: 5, goodReplicas: 2, halted: { generation: 8, reason: "CrashLoop" } },
};
const pods = [
  { pod: "shop-web.a", startupPassed: true, readiness: "healthy", transitionAt: 1_000 },
  { pod: "shop-web.b", startupPassed: false, readiness: "unknown", transitionAt: 2_000 },
] as const;
const restarts = [{ container: "0123456789ab", count: 3 }];
const files = { revision: 4, files: { index: "d1" }, errors: { other: "refused" }, at: 3_000 };
const seen = { expression: "0 3 * * *", timezone: "UTC", suspended: true, since: 9, decidedUntil: 11 };

describe("rows beside the status", () => {
  let at: TestRoot;
  let store: Store;
  beforeEach(() => {
    at = testRoot();
    store = openTestStore(at);
  });
  afterEach(() => {
    store.close();
    at.remove();
  });

  const all = () => [
    store.looks.get(web),
    store.probeReadiness.list(web),
    store.earlierRestarts.list(web),
    store.assetFiles.get(page),
    store.seenSchedules.get(nightly),
  ];
  const none = [undefined, [], [], undefined, undefined];

  async function putAll(): Promise<void> {
    await store.write((tx) => {
      for (const key of [web, page, nightly]) tx.manifests.put({ ...key, spec: {} }, 1);
      tx.looks.put(web, look);
      tx.probeReadiness.put(web, pods);
      tx.earlierRestarts.put(web, restarts);
      tx.assetFiles.put(page, files);
      tx.seenSchedules.put(nightly, seen);
    });
  }

  test("come back whole, also from the file", async () => {
    expect(all()).toEqual(none);
    await putAll();
    expect(all()).toEqual([look, [...pods], restarts, files, seen]);
    store.close();
    store = openTestStore(at);
    expect(all()).toEqual([look, [...pods], restarts, files, seen]);
    expect(() => Object.assign(store.looks.get(web)?.memory ?? {}, { goodGeneration: 1 })).toThrow();
  });

  test("are replaced: what is not given goes", async () => {
    await putAll();
    const [, second] = pods;
    const well = { ...look, phase: "ready", error: undefined, unready: undefined, memory: {} } as const;
    await store.write((tx) => {
      tx.looks.put(web, well);
      tx.probeReadiness.put(web, [{ ...second, startupPassed: true }]);
      tx.earlierRestarts.put(web, []);
      tx.seenSchedules.put(nightly, { expression: "@daily", timezone: "UTC", suspended: false, since: 1 });
    });
    store.close();
    store = openTestStore(at);
    expect(all()).toEqual([
      well,
      [{ ...second, startupPassed: true }],
      [],
      files,
      { expression: "@daily", timezone: "UTC", suspended: false, since: 1 },
    ]);
  });

  test("go with their manifest; a change that is undone leaves them", async () => {
    await putAll();
    const undone = store.write((tx) => {
      for (const key of [web, page, nightly]) tx.manifests.delete(key);
      expect(tx.looks.get(web)).toBeUndefined();
      tx.earlierRestarts.put(web, [{ container: "other", count: 1 }]);
      throw new Error("undo");
    });
    expect(undone).rejects.toThrow("undo");
    await undone.catch(() => undefined);
    expect(all()).toEqual([look, [...pods], restarts, files, seen]);
    await store.write((tx) => [web, page, nightly].map((key) => tx.manifests.delete(key)));
    expect(all()).toEqual(none);
  });

  test("are not written where they are the same", async () => {
    await putAll();
    const db = new Database(`${at.root}/state.db`, { readonly: true });
    const version = () => db.query("pragma data_version").get();
    const before = version();
    await store.write((tx) => {
      tx.looks.put(web, { ...look, memory: { ...look.memory } });
      tx.probeReadiness.put(web, [...pods]);
      tx.earlierRestarts.put(web, restarts);
      tx.assetFiles.put(page, { ...files });
      tx.seenSchedules.put(nightly, seen);
    });
    expect(version()).toEqual(before);
    db.close();
  });
});

/** Statuses as versions up to schema 19 wrote them. */
const earlier: [{ kind: string; scope: string; name: string }, object][] = [
  [
    web,
    {
      phase: "failed",
      image: "web:2",
      replicas: 2,
      observed_revision: 7,
      observed_generation: 8,
      replica_readiness: {
        "shop-web.a": {
          container_name: "shop-web.a",
          ready: true,
          startup_passed: true,
          readiness_phase: "healthy",
          last_transition: "2026-03-01T10:00:00.123Z",
        },
        "shop-web.b": { ready: false, startup_passed: false, reason: "connection refused" },
        "shop-web.c": { ready: false, startup_passed: false, last_transition: "2026-03-01T10:00:00.999Z" },
      },
      conditions: [
        { type: "Progressing", status: false, message: "no" },
        { type: "Ready", status: false, message: "1/2 ready" },
      ],
      good_generation: 5,
      good_replicas: 2,
      halted: { generation: 8, good_generation: 5, reason: "CrashLoop" },
      earlier_restarts: { "0123456789ab": 3 },
      last_reconcile_error: "CrashLoop",
    },
  ],
  [
    { ...web, kind: "statefulset", name: "db" },
    {
      phase: "ready",
      replicas: 1,
      observed_revision: 3,
      observed_generation: 3,
      good_generation: 3,
      good_replicas: 1,
      conditions: [{ type: "Ready", status: true, message: "1 ready" }],
    },
  ],
  [
    page,
    {
      phase: "failing",
      files: { index: "d1" },
      errors: { "a.b": "refused" },
      materialised_at: "2026-03-01T10:00:00.500Z",
      observed_revision: 4,
    },
  ],
  [
    { ...page, name: "troubled" },
    { phase: "failing", files: { index: "d1" }, errors: {}, observed_revision: 4, last_reconcile_error: "gone" },
  ],
  [
    { ...page, name: "never" },
    { phase: "failing", last_reconcile_error: "no" },
  ],
  [nightly, { phase: "ready", image: "job:1", observed_revision: 2, seen }],
  [{ ...nightly, name: "fresh" }, { phase: "ready" }],
  [
    { ...nightly, kind: "ingress", name: "web" },
    { phase: "stored", data: { host: "web.test" } },
  ],
];

test("an upgrade takes what earlier versions kept in the status, and leaves the rest of it", () => {
  const db = new Database(":memory:", { strict: true });
  migrate(db, "state.db", stateMigrations.slice(0, stateMigrations.indexOf(statusState)));
  const insert = db.query("insert into status (kind, scope, name, status) values (?, ?, ?, ?)");
  for (const [{ kind, scope, name }, status] of earlier) insert.run(kind, scope, name, JSON.stringify(status));
  migrate(db, "state.db", stateMigrations);
  const { nouns } = createLooks(db);
  const { looks, probeReadiness, earlierRestarts, assetFiles, seenSchedules } = nouns;
  expect(looks.get(web)).toEqual({ ...look, error: "CrashLoop" });
  expect(looks.get({ ...web, kind: "statefulset", name: "db" })).toEqual({
    phase: "ready",
    revision: 3,
    generation: 3,
    replicas: 1,
    error: undefined,
    unready: undefined,
    memory: { goodGeneration: 3, goodReplicas: 1, halted: undefined },
  });
  expect(probeReadiness.list(web)).toEqual([
    {
      pod: "shop-web.a",
      startupPassed: true,
      readiness: "healthy",
      transitionAt: Date.parse("2026-03-01T10:00:00.123Z"),
    },
    {
      pod: "shop-web.c",
      startupPassed: false,
      readiness: "unknown",
      transitionAt: Date.parse("2026-03-01T10:00:00.999Z"),
    },
  ]);
  expect(earlierRestarts.list(web)).toEqual(restarts);
  const at = Date.parse("2026-03-01T10:00:00.500Z");
  expect(assetFiles.get(page)).toEqual({ revision: 4, files: { index: "d1" }, errors: { "a.b": "refused" }, at });
  // A round that failed: its files are looked at again, as an earlier version would have.
  expect(assetFiles.get({ ...page, name: "troubled" })).toMatchObject({ revision: 0, files: { index: "d1" } });
  expect(assetFiles.get({ ...page, name: "never" })).toBeUndefined();
  expect(seenSchedules.get(nightly)).toEqual(seen);
  expect(seenSchedules.get({ ...nightly, name: "fresh" })).toBeUndefined();
  const statusOf = ({ kind, scope, name }: (typeof earlier)[number][0]) =>
    JSON.parse(
      db
        .query<{ status: string }, string[]>("select status from status where kind = ? and scope = ? and name = ?")
        .get(kind, scope, name)?.status ?? "",
    );
  for (const [key, status] of earlier) {
    const { seen: _, ...shown } = status as Record<string, unknown>;
    expect(statusOf(key)).toEqual(shown);
  }
  db.close();
});
