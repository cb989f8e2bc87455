import { join } from "node:path";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type BlockRig, backupsOf, blockRig, infoOf, postgresImage, redisImage } from "../support/blocks.ts";
import { deadProxies } from "../support/dead-proxies.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(300_000);

const checkout = join(import.meta.dir, "../..");
let berth: BlockRig;
beforeAll(async () => {
  berth = await blockRig({ env: deadProxies });
});
afterAll(() => berth?.close());

const sql = async (database: string, query: string) =>
  (await berth.run("pg", "psql", "demo/db", "-d", database, "-c", query, "--", "-At")).trim();
const orders = async (database = "shop") => Number(await sql(database, "select count(*) from orders"));
const url = async () => {
  const { body } = await berth.call("GET", "/config?scope=demo&name=shop&key=DATABASE_URL");
  return (body.data as unknown as Record<string, string>).DATABASE_URL ?? "";
};
const shopReady = () => berth.ready("deployment", "demo", "shop", 120_000);

/** The "Done when" of the plugins: one story, since each part needs the one before it. */
test("examples/stack: applied, its primary killed, another promoted, a backup restored into a new database", async () => {
  const env = { POSTGRES_IMAGE: postgresImage, REDIS_IMAGE: redisImage };
  const applied = await berth.cli(["apply", "-f", "examples/stack", "-y", "--no-wait"], { cwd: checkout, env });
  expect({ exitCode: applied.exitCode, stderr: applied.stderr }).toMatchObject({ exitCode: 0 });

  expect(await berth.run("pg:link", "demo/db", "demo/shop")).toContain("demo/shop has DATABASE_URL");
  expect(await berth.run("redis:link", "demo/cache", "demo/shop")).toContain("demo/shop has REDIS_URL");
  await berth.ready("statefulset", "demo", "db", 120_000);
  await berth.ready("statefulset", "demo", "cache", 120_000);
  await shopReady();
  expect(await url()).toContain("@db-0.demo:5432/shop");
  await waitFor("orders to be written", async () => (await orders()) >= 3, 60_000);

  const before = await orders();
  berth.docker(["kill", "demo-db.0"]);
  expect(await berth.run("pg:promote", "demo/db", "--yes")).toContain("pod 1 of demo/db is primary; pod 0 follows it");
  expect(await url()).toContain("@db-1.demo:5432/shop");
  const { primary, pods, links } = await infoOf(berth, "pg", "demo/db");
  expect({ primary, roles: pods.map(({ role }) => role) }).toEqual({ primary: 1, roles: ["standby", "primary"] });
  expect(links.map(({ app }) => app)).toEqual(["demo/shop"]);
  await shopReady();
  const after = await orders();
  // What was confirmed before the kill and had reached the standby is there, and the app writes on.
  expect(after).toBeGreaterThanOrEqual(before - 1);
  await waitFor("orders at the new primary", async () => (await orders()) > after, 60_000);

  expect(await berth.run("pg:backup", "demo/db")).toContain("was restored once and counted");
  const [id = ""] = await backupsOf(berth, "pg", "demo/db");
  const restored = await berth.run("pg:restore", "demo/db", id, "--into", "shop_copy", "--yes");
  const copied = await orders("shop_copy");
  expect(restored).toContain(`database shop_copy holds shop of ${id}: 1 tables with ${copied} rows, as in the backup`);
  expect(copied).toBeGreaterThanOrEqual(after);

  // The block again: nothing to do, so the promotion stays as it is.
  const again = await berth.cli(["diff", "-f", "examples/stack", "--detailed-exitcode"], { cwd: checkout, env });
  expect({ exitCode: again.exitCode, stdout: again.exitCode === 0 ? "" : again.stdout }).toEqual({
    exitCode: 0,
    stdout: "",
  });
});
