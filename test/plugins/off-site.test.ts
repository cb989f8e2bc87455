import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type BlockRig, blockRig, postgresImage, redisImage } from "../support/blocks.ts";

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
});
