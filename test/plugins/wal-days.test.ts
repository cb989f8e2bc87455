import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { addressOf, type BlockRig, blockRig, postgresImage } from "../support/blocks.ts";
import { type S3Store, s3Store } from "../support/s3-store.ts";
import { waitFor } from "../support/wait.ts";

/** In a soak: how long the database has no clients, and how much WAL is replayed. */
const minutes = Number(process.env.BERTH_TEST_IDLE_MINUTES ?? "0");
const mebibytes = Number(process.env.BERTH_TEST_WAL_MIB ?? "0");
setDefaultTimeout(900_000 + minutes * 60_000 + mebibytes * 1_000);

/** What the target of a database without clients may get in a day, and how late a commit may be there. */
const [bytesMax, requestsMax, lagMaxMs] = [10_000_000, 2_000, 10_000];
const dayMinutes = 24 * 60;

describe.skipIf(minutes + mebibytes === 0)("WAL of days", () => {
  let berth: BlockRig;
  let folder: string;
  let store: S3Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-days."));
    store = await s3Store({ plain: true });
    berth = await blockRig();
    await berth.run("backup", "target", "add", "disk", join(folder, "copies"), "--every", "1d");
    const secret = { stdin: "secret\n" };
    const added = await berth.cli(
      ["backup", "target", "add", "far", store.url, "--key-id", "id", "--every", "1d"],
      secret,
    );
    expect([added.exitCode, added.stderr]).toEqual([0, ""]);
  });
  afterAll(async () => {
    await berth?.close();
    await store?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function make(name: string, target: string): Promise<void> {
    const spec = { image: postgresImage, point_in_time: { keep: "3d", target } };
    expect((await berth.apply({ kind: "postgres", scope: "data", name, spec })).status).toBe(200);
    await berth.ready("statefulset", "data", name, 120_000);
    await waitFor("the first base backup at the target", async () => (await ranges(name)).length > 0, 240_000, 2_000);
  }
  async function ranges(name: string) {
    const { body } = await berth.call("GET", `/backups/databases?scope=data&name=${name}`);
    return (body.data as unknown as { ranges: { from: string; to: string }[] } | undefined)?.ranges ?? [];
  }
  async function login(name: string) {
    const { body } = await berth.call("GET", `/config?scope=data&name=${name}`);
    const { POSTGRES_PASSWORD: password = "" } = (body.data as unknown as { vars: Record<string, string> }).vars;
    const hostname = await addressOf(berth, `data-${name}.0`);
    return new SQL({ adapter: "postgres", hostname, port: 5432, username: "app", password, database: "app", max: 1 });
  }

  test.skipIf(minutes === 0)("a database without clients sends at most 10 MB and 2,000 requests a day", async () => {
    const requests: string[] = [];
    store.seen = (method, place) => {
      if (place.includes(".databases")) requests.push(`${method} ${place}`);
    };
    await make("idle", "far");
    const bytes = () =>
      [...store.objects].reduce((sum, [key, { length }]) => sum + (key.includes(".databases/") ? length : 0), 0);
    const basedOn = requests.length;
    const marks: [number, number][] = [];
    for (let minute = 0; minute < minutes; minute += 1) {
      await Bun.sleep(60_000);
      marks.push([bytes(), requests.length]);
    }
    // The minutes after a start and a base backup are no quiet ones: the second half tells of a day, which has one base backup.
    const half = Math.floor(minutes / 2) - 1;
    const [[held, asked], [heldAt, askedAt]] = [marks.at(-1) ?? [0, 0], marks[half] ?? [0, 0]];
    const aDay = (count: number) => Math.round((count / (minutes - half - 1)) * dayMinutes);
    const day = { bytes: held + aDay(held - heldAt), requests: basedOn + aDay(asked - askedAt) };
    console.log(`bytes and requests by minute ${marks.join(" ")}; a day: ${day.bytes} bytes, ${day.requests} requests`);
    expect(day.bytes).toBeLessThanOrEqual(bytesMax);
    expect(day.requests).toBeLessThanOrEqual(requestsMax);
  });

  test.skipIf(mebibytes === 0)(
    "a commit is at the target within 10 s, also while copies are removed there",
    async () => {
      await make("main", "disk");
      const key = await berth.run("backup", "key");
      const env = {
        ...process.env,
        RESTIC_REPOSITORY: join(folder, "copies", key.split(".")[0] ?? ""),
        RESTIC_PASSWORD: key,
      };
      const server = await login("main");
      await server`create table t (n int)`;
      const lags: number[] = [];
      let [isOver, pruned] = [false, 0];
      const pruning = (async () => {
        // The server has the repository for itself at times.
        const words = ["restic", "--no-cache", "prune", "--max-unused", "0"];
        const quiet = { env, stdout: "ignore", stderr: "ignore" } as const;
        while (!isOver) if ((await Bun.spawn(words, quiet).exited) === 0) pruned += 1;
      })();
      for (let round = 0; round < 5; round += 1) {
        await server`insert into t values (${round})`;
        const committedAt = Date.now();
        const isThere = async () => Date.parse((await ranges("main")).at(-1)?.to ?? "") > committedAt;
        await waitFor("the commit at the target", isThere, 120_000, 500);
        lags.push(Date.now() - committedAt);
      }
      isOver = true;
      await pruning;
      expect(pruned).toBeGreaterThan(0);
      await server.close({ timeout: 0 });
      console.log(`at the target after ${lags.join(", ")} ms`);
      expect(Math.max(...lags)).toBeLessThanOrEqual(lagMaxMs);
    },
  );

  test.skipIf(mebibytes === 0)("a restore takes at most twice as long as the replay of its WAL", async () => {
    const server = await login("main");
    await server`create table big (id bigserial primary key, text text)`;
    const start = await server`select pg_current_wal_lsn() as at`;
    const written = async () => {
      const [row] = await server`select pg_wal_lsn_diff(pg_current_wal_lsn(), ${start[0].at}::pg_lsn)::float8 as bytes`;
      return Number(row.bytes) / 1024 / 1024;
    };
    while ((await written()) < mebibytes) {
      await server`insert into big (text) select md5(random()::text) from generate_series(1, 50000)`;
      await server`update big set text = md5(text) where id % 10 = 0 and id > (select max(id) - 50000 from big)`;
    }
    const mib = await written();
    const [count] = await server`select count(*)::int as n from big`;
    await server.close({ timeout: 0 });
    const committedAt = Date.now();
    const isThere = async () => Date.parse((await ranges("main")).at(-1)?.to ?? "") > committedAt;
    await waitFor("the WAL at the target", isThere, 900_000, 5_000);
    const begunAt = Date.now();
    await berth.run("pg", "restore", "data/main", "--at", "latest", "--as", "again", "--yes");
    const tookMs = Date.now() - begunAt;
    const log = berth.docker(["exec", "data-again.0", "cat", "/var/lib/postgresql/data/berth.replay.log"]);
    const replayMs = Number(/redo done at .* elapsed: ([\d.]+) s/.exec(log)?.[1]) * 1_000;
    const again = await login("again");
    const [found] = await again`select count(*)::int as n from big`;
    await again.close({ timeout: 0 });
    console.log(`${Math.round(mib)} MiB of WAL came back in ${tookMs} ms, of which the replay took ${replayMs} ms`);
    expect(found.n).toBe(count.n);
    expect(tookMs).toBeLessThanOrEqual(2 * replayMs);
  });
});
