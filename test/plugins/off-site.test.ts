import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { answerOf, type BlockRig, blockRig, postgresImage, redisImage } from "../support/blocks.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(300_000);

/** Blocks whose backups leave the machine, at a folder as the target. */
describe("backups of databases outside of the machine", () => {
  let berth: BlockRig;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-off-site."));
    berth = await blockRig();
    await berth.run("backup", "target", "add", "disk", join(folder, "copies"), "--every", "1d");
  });
  afterAll(async () => {
    await berth?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ["postgres", "main", postgresImage, "1.dump"],
    ["redis", "cache", redisImage, "dump.rdb"],
  ])("a block of %s makes a new backup for each copy, and its data is not copied", async (kind, name, image, dump) => {
    const spec = { image, backup: { every: "1d" }, backups: { keep: 3 } };
    const { status, body } = await berth.apply({ kind, scope: "data", name, spec });
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    await berth.ready("statefulset", "data", name, 120_000);
    const volume = `${berth.prefix}-data-${name}-backups`;
    const said = await berth.run("backup", "now", `data/${name}`);
    expect(said).toContain(`disk  data/${name}/${volume}  `);
    expect(said).not.toContain("paused");

    const key = await berth.run("backup", "key");
    const place = join(folder, name);
    const env = {
      ...process.env,
      RESTIC_REPOSITORY: join(folder, "copies", key.split(".")[0] ?? ""),
      RESTIC_PASSWORD: key,
    };
    const words = ["restore", "latest", "--tag", `volume,scope=data,name=${name}`, "--target", place];
    expect(Bun.spawnSync(["restic", "--no-cache", ...words], { env }).success).toBe(true);
    const backups = readdirSync(place).filter((entry) => /^\d{8}T\d{6}Z$/.test(entry));
    expect(backups.length).toBeGreaterThanOrEqual(1);
    for (const backup of backups) expect(readdirSync(join(place, backup))).toContain(dump);
    expect(await berth.run("describe", "statefulset", `data/${name}`)).toMatch(
      /backup +every 1d to every target\n +last copy +\d/,
    );
  });

  test("an image that changes by the API is preceded by a backup, without which nothing changes", async () => {
    const other = "berth-redis:other";
    const [pod] = berth.docker(["ps", "-q", "--filter", `name=^data-cache\\.0$`]).split("\n");
    berth.docker(["commit", "--change", "LABEL of=another", pod ?? "", other]);
    const runs = async () => (await berth.run("backup", "runs")).match(/data\/cache\//g)?.length ?? 0;
    const before = await runs();
    const spec = { backup: { every: "1d" }, backups: { keep: 3 } };
    const change = (image: string) =>
      berth.apply({ kind: "redis", scope: "data", name: "cache", spec: { ...spec, image } });
    expect((await change(other)).status).toBe(200);
    expect(await runs()).toBe(before + 1);
    await waitFor(
      "the release of the other image",
      async () => {
        const { body } = await berth.call("GET", "/releases?kind=statefulset&scope=data&name=cache");
        return (body.data as unknown as { releases: { status: string }[] }).releases[0]?.status === "succeeded";
      },
      120_000,
    );
    await berth.call("POST", "/pods/data-cache.0/stop?freeze=true");
    const refused = await change(redisImage);
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining("no backup of data/cache")]);
    await berth.call("POST", "/restart?scope=data&name=cache");
    await berth.ready("statefulset", "data", "cache", 120_000);
  });

  /** The machine is gone: the server, what it has stored, and everything in the engine. */
  async function burn(): Promise<void> {
    await berth.stop("SIGKILL");
    const containers = berth.docker(["ps", "-aq", "--filter", `label=createdby=${berth.prefix}`]).split("\n");
    berth.docker(["rm", "-f", "-v", ...containers.filter(Boolean)]);
    const volumes = berth.docker(["volume", "ls", "-q", "--filter", `name=^${berth.prefix}`]).split("\n");
    berth.docker(["volume", "rm", ...volumes.filter(Boolean)]);
    for (const entry of readdirSync(berth.root)) rmSync(join(berth.root, entry), { recursive: true, force: true });
  }

  /** Another server in the place of the one that is gone: its moment to stop is over. */
  async function comeBack(key: string): Promise<void> {
    const file = join(folder, "key.txt");
    writeFileSync(file, key);
    const words = ["--from", join(folder, "copies"), "--key-file", file, "--root", berth.root, "-y"];
    await berth.run("server", "restore", ...words);
    const life = join(berth.root, "life.json");
    const text = readFileSync(life, "utf8");
    writeFileSync(life, text.replace(/"takenOverAt":\d+/, `"takenOverAt":${Date.now() - 90_000}`));
    await berth.start();
  }

  test("the databases of a burnt server come back with one command, by backups and by WAL", async () => {
    const spec = { image: postgresImage, replicas: 2, point_in_time: { keep: "3d" } };
    expect((await berth.apply({ kind: "postgres", scope: "data", name: "wal", spec })).status).toBe(200);
    await berth.ready("statefulset", "data", "wal", 120_000);
    const psql = (name: string, sql: string) => answerOf(berth, "pg", "psql", [`data/${name}`, "-c", sql]);
    await psql(
      "main",
      "create role elsewhere; create table t (n int); alter table t owner to elsewhere; insert into t values (1)",
    );
    await answerOf(berth, "redis", "cli", ["data/cache", "--", "set", "greeting", "hello"]);
    await berth.run("backup", "now");
    await psql("wal", "create table t as select 1 as n");
    const committedAt = Date.now();
    await waitFor(
      "the last write at the target",
      async () => {
        const { body } = await berth.call("GET", "/backups/databases?scope=data&name=wal");
        const { ranges } = (body.data ?? { ranges: [] }) as unknown as { ranges: { to: string }[] };
        return Date.parse(ranges.at(-1)?.to ?? "") > committedAt;
      },
      120_000,
    );
    const drilled = await berth.cli(["backup", "drill", "data"]);
    expect([drilled.exitCode, drilled.stdout]).toEqual([0, expect.stringMatching(/(proved.*){3}/s)]);
    const key = await berth.run("backup", "key");
    await burn();
    await comeBack(key);

    const all = await berth.cli(["backup", "restore", "--all", "-y"]);
    expect([all.exitCode, all.stderr]).toEqual([0, expect.stringMatching(/data\/main\/data .* backup \d{8}T\d{6}Z\n/)]);
    expect(all.stdout).toMatch(/data\/main\/data {2}restored .* by the backup \d{8}T\d{6}Z/);
    expect(all.stdout).toMatch(/data\/cache\/data {2}restored .* by the backup \d{8}T\d{6}Z/);
    expect(all.stdout).toMatch(/data\/wal\/data {2}restored .* by WAL\n/);
    for (const name of ["main", "cache", "wal"]) await berth.ready("statefulset", "data", name, 120_000);
    for (const name of ["main", "wal"]) expect(await psql(name, "select n from t")).toContain("1");
    expect(await psql("main", "\\dt t")).toContain("elsewhere");
    expect(await answerOf(berth, "redis", "cli", ["data/cache", "--", "get", "greeting"])).toContain("hello");
    const again = await berth.cli(["backup", "restore", "--all", "-y"]);
    expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining("no volume is missing")]);
  });
});
