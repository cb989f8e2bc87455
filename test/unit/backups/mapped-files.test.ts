import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folders } from "../../../src/backups/restic/folders.ts";
import { createRestic } from "../../../src/backups/restic/restic.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";
import { patientBackups } from "../../support/patient-backups.ts";

setDefaultTimeout(240_000);

const isThere = process.getuid?.() === 0 && Bun.which("restic") !== null;

// In a file system in memory, a file that stays mapped never gets a new time; on a disk for up to half a minute.
test.skipIf(!isThere)("what a program writes to a mapped file between two passes is in the second one", async () => {
  const folder = mkdtempSync(join("/dev/shm", "berth-mapped."));
  try {
    const [store, data, back] = ["store", "data", "back"].map((name) => join(folder, name)) as [string, string, string];
    for (const path of [store, data]) mkdirSync(path);
    const file = join(data, "file");
    writeFileSync(file, "-".repeat(8_192));
    const mapped = Bun.mmap(file, { shared: true });
    const access = { installation: "0123456789abcdef", password: "a word", credentials: {} };
    const restic = createRestic(join(folder, "cache"), patientBackups, () => "berth-aa");
    const repository = createRepository(restic, { ...access, url: store }, patientBackups);
    const { signal } = new AbortController();
    await repository.make();
    const startedAt = Date.now();
    mapped.set(new TextEncoder().encode("first"));
    const order = { folder: data, tags: ["berth-state"] };
    const first = await repository.write(order, signal);
    const timeThen = statSync(file, { bigint: true }).mtimeNs;
    mapped.set(new TextEncoder().encode("later"));
    expect(statSync(file, { bigint: true }).mtimeNs).toBe(timeThen);
    await folders.refresh(data, { readSince: startedAt - 1_000 }, signal);
    const second = await repository.write({ ...order, parent: first.snapshot }, signal);
    await repository.restore(second.snapshot, back, signal);
    expect(readFileSync(join(back, "file"), "latin1").slice(0, 5)).toBe("later");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// Only on a disk are pages written back.
const onDisk = Bun.spawnSync(["stat", "-f", "-c", "%T", tmpdir()]).stdout.toString().trim() === "ext2/ext3";
test.skipIf(!onDisk)("once it is on the disk, the next write to a mapped file gives it a new time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-flushed."));
  try {
    const file = join(folder, "file");
    writeFileSync(file, "-".repeat(8_192));
    const mapped = Bun.mmap(file, { shared: true });
    const write = (text: string) => {
      mapped.set(new TextEncoder().encode(text));
      return statSync(file, { bigint: true }).mtimeNs;
    };
    const before = write("first");
    await Bun.sleep(50);
    await folders.refresh(folder, { flushSince: Date.now() - 60_000 }, new AbortController().signal);
    expect(write("later")).toBeGreaterThan(before);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
