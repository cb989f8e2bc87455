import { expect, test } from "bun:test";
import type { DiskUse, PrunePlan } from "../../../../src/orchestration/api/disk.ts";
import { cli } from "../../../support/cli.ts";

const mib = 1024 * 1024;
const use: DiskUse = {
  measured_at: "2026-01-31T13:05:00.000Z",
  measuring: false,
  engine: {
    images: {
      ...{ count: 4, bytes: 900 * mib, used_bytes: 300 * mib, rollback_bytes: 0 },
      ...{ removable_bytes: 200 * mib, foreign_bytes: 0 },
    },
    build_cache: { bytes: 50 * mib, unused_bytes: 40 * mib },
    volumes: { count: 1, bytes: 10 * mib },
    containers: { count: 2, writable_bytes: mib, log_bytes: 2 * mib },
  },
  stores: [{ name: "metrics", path: "/r/metrics.db", bytes: mib, cap: "age and bytes", cap_bytes: 1024 * mib }],
  volumes: [
    {
      ...{ volume: "berth-shop-db-data-0", scope: "shop", name: "db", state: "leftover" as const },
      ...{ bytes: 10 * mib, remove: "berth delete shop/db --prune" },
    },
  ],
};
const plan: PrunePlan = {
  images: [{ id: "sha256:1", ref: "shop/web:1", bytes: 200 * mib }],
  build_cache_bytes: 40 * mib,
  bytes: 240 * mib,
  leftovers: [
    { scope: "shop", name: "db", kinds: [], volumes: ["berth-shop-db-data-0"], config_keys: 0, folders: [], kept: [] },
  ],
};

test("disk says what fills it, and with --volumes whose each volume is", async () => {
  const { out, calls } = await cli(["disk"], { server: () => use });
  expect(calls[0]?.query).toEqual({ wait: "true" });
  expect(out).toMatch(/images +900Mi +4; 200Mi can be removed with berth prune/);
  expect(out).toMatch(/metrics +1.0Mi +at most 1.0Gi/);
  const { out: volumes } = await cli(["disk", "--volumes"], { server: () => use });
  expect(volumes).toMatch(/berth-shop-db-data-0 +shop\/db +leftover +10.0Mi +berth delete shop\/db --prune/);
});

test("prune shows first what goes and what stays, and asks", async () => {
  const dry = await cli(["prune", "--dry-run"], { server: () => plan });
  expect([dry.code, dry.calls.map(({ method }) => method)]).toEqual([0, ["GET"]]);
  expect(dry.out).toContain("- image shop/web:1  200Mi");
  expect(dry.out).toContain("what is left of shop/db: volume berth-shop-db-data-0");
  const refused = await cli(["prune"], { server: () => plan });
  expect([refused.code, refused.calls.map(({ method }) => method)]).toEqual([5, ["GET"]]);
  const done = await cli(["prune", "-y"], { server: () => plan });
  expect([done.code, done.calls.map(({ method }) => method)]).toEqual([0, ["GET", "POST"]]);
  expect(done.out).toContain("removed 1 image and");
});

test("volumes that no prune removes stay with their way to go", async () => {
  const kept = ["berth-db-backups: docker volume rm berth-db-backups"];
  const leftover = { scope: "db", name: "", kinds: [], volumes: [], config_keys: 0, folders: [], kept };
  const bare = { images: [], build_cache_bytes: 0, bytes: 0, leftovers: [leftover] };
  const { out } = await cli(["prune", "--dry-run"], { server: () => bare });
  expect(out.trim().split("\n")).toEqual([
    "nothing to remove",
    "stays, until you remove it with Docker:",
    "  volume berth-db-backups: docker volume rm berth-db-backups",
  ]);
});

test("with nothing to remove there is no question", async () => {
  const empty = { images: [], build_cache_bytes: 0, bytes: 0, leftovers: [] };
  const { code, out, calls } = await cli(["prune"], { server: () => empty });
  expect([code, out.trim(), calls.length]).toEqual([0, "nothing to remove", 1]);
});

test("where nothing could be measured, disk fails with the reason", async () => {
  const error = "docker has not answered for 15 s";
  const { code, err } = await cli(["disk"], { server: () => ({ measuring: false, error, stores: [], volumes: [] }) });
  expect([code, err]).toEqual([1, expect.stringContaining(`not measured: ${error}`)]);
  const old = await cli(["disk"], { server: () => ({ ...use, error }) });
  expect(old.code).toBe(0);
});
