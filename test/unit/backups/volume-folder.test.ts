import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { remoteEnvironment } from "../../../src/backups/core/rclone-remote.ts";
import { folders } from "../../../src/backups/restic/folders.ts";
import { openVolumeFolder, stageFiles, textIn, writeText } from "../../../src/backups/restic/outbox.ts";
import { shipBases } from "../../../src/backups/service/shipping.ts";

let root = "";
const { signal } = new AbortController();
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "berth-volume."));
  mkdirSync(join(root, "volume/home/outbox"), { recursive: true });
  writeFileSync(join(root, "secret"), "of the machine");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("what a container puts into its volume leads the server nowhere else", async () => {
  const volume = join(root, "volume");
  const outbox = join(volume, "home/outbox");
  writeFileSync(join(outbox, "plain"), "wal");
  symlinkSync(join(root, "secret"), join(outbox, "link"));
  mkdirSync(join(outbox, "folder"));
  symlinkSync(root, join(volume, "elsewhere"));
  expect(await openVolumeFolder(volume, ["elsewhere"])).toBeUndefined();
  expect(await openVolumeFolder(volume, ["elsewhere"], { make: true })).toBeUndefined();
  expect(await openVolumeFolder(volume, ["absent"])).toBeUndefined();
  const folder = await openVolumeFolder(volume, ["home", "outbox"]);
  if (folder === undefined) throw new Error("not opened");
  const files = ["plain", "link", "folder", "absent"].map((name) => ({ name, path: `1/${name}` }));
  const staged = await stageFiles(folder, files, {
    ...{ into: join(root, "staging"), bytesMax: 1000, fileBytesMax: 1000 },
  });
  expect(staged).toEqual([{ name: "plain", path: "1/plain", bytes: 3 }]);
  expect(readFileSync(join(root, "staging/1/plain"), "utf8")).toBe("wal");
  for (const name of ["link", "plain"]) {
    expect(await writeText(folder, name, "x").then(String, () => "refused")).toBe("refused");
  }
  // Moved away while it is open: what is written stays in the folder that was opened.
  rmSync(outbox, { recursive: true });
  symlinkSync(root, outbox);
  expect(await writeText(folder, "fresh", "x").then(String, () => "refused")).toBe("refused");
  expect(existsSync(join(root, "fresh"))).toBe(false);
  await folder.close();
  chmodSync(root, 0o700);
});

test("a file that becomes large after its size was looked at is no text", async () => {
  const path = join(root, "volume/home/failed");
  const folder = await openVolumeFolder(join(root, "volume"), ["home"]);
  if (folder === undefined) throw new Error("the folder is not there");
  writeFileSync(path, "é small");
  expect(await textIn(folder, "failed")).toBe("é small");
  const growing = {
    ...folder,
    async read(name: string) {
      const file = await folder.read(name);
      const stat = file?.stat.bind(file);
      return file && Object.assign(file, { stat: () => stat?.().finally(() => truncateSync(path, 1_000_000)) });
    },
  };
  truncateSync(path, 10);
  expect((await textIn(growing, "failed")).length).toBeLessThan(65_537);
  await folder.close();
});

test("a file in the outbox that is larger than any WAL is refused before it is read", async () => {
  const volume = join(root, "volume");
  writeFileSync(join(volume, "home/outbox/plain"), "wal");
  writeFileSync(join(volume, "home/outbox/vast"), "");
  // It takes no room on the disk of the container, and would take all memory and the disk of the server.
  truncateSync(join(volume, "home/outbox/vast"), 2 ** 40);
  const folder = await openVolumeFolder(volume, ["home", "outbox"]);
  if (folder === undefined) throw new Error("not opened");
  const files = ["plain", "vast"].map((name) => ({ name, path: name }));
  const how = { into: join(root, "staging"), bytesMax: 1000, fileBytesMax: 1000 };
  expect(stageFiles(folder, files, how)).rejects.toThrow("vast in the outbox has more than 1000 bytes");
  expect(await stageFiles(folder, files.slice(0, 1), how)).toEqual([{ name: "plain", path: "plain", bytes: 3 }]);
  await folder.close();
});

test("rclone gets the place, the key and the credentials in its environment, and some targets keep no single files", () => {
  const access = { installation: "0123456789abcdef", credentials: { access_key_id: "A", secret_access_key: "S" } };
  const s3 = remoteEnvironment("s3://s3.eu-central-1.amazonaws.com/bucket/path", { ...access, password: "P" });
  expect(s3).toMatchObject({
    RCLONE_CONFIG_DATABASES_TYPE: "crypt",
    RCLONE_CONFIG_DATABASES_REMOTE: "place:bucket/path/0123456789abcdef.databases",
    RCLONE_CONFIG_DATABASES_PASSWORD: "P",
    RCLONE_CONFIG_PLACE_ENDPOINT: "https://s3.eu-central-1.amazonaws.com",
    RCLONE_CONFIG_PLACE_REGION: "eu-central-1",
    RCLONE_CONFIG_PLACE_SECRET_ACCESS_KEY: "S",
  });
  const folder = remoteEnvironment("/mnt/copies", { ...access, credentials: {}, password: "P" });
  expect(folder.RCLONE_CONFIG_DATABASES_REMOTE).toBe("/mnt/copies/0123456789abcdef.databases");
  const rest = () => remoteEnvironment("rest:https://a/b", { ...access, credentials: {}, password: "P" });
  expect(rest).toThrow("a folder, S3 or SFTP");
});

test("a base backup that is a file of holes is not sent: it costs who wrote it nothing", async () => {
  const bases = join(root, "point-in-time/bases");
  mkdirSync(bases, { recursive: true });
  const file = join(bases, "7000000000000000000.base.20261129T070000Z.base.tar.gz");
  writeFileSync(file, "x");
  truncateSync(file, 2 ** 40);
  const database = { scope: "a", name: "b", keepMs: 1, target: undefined, mountPoint: root, image: "", imageId: "" };
  const options = { database, clock: { now: () => 0 } } as unknown as Parameters<typeof shipBases>[0];
  await expect(shipBases(options)).rejects.toThrow("is a file of holes");
});

test("little of a folder was changed when few bytes of few files are newer, also deep inside; links count for nothing", async () => {
  writeFileSync(join(root, "volume/home/big"), Buffer.alloc(1_000));
  symlinkSync("/", join(root, "volume/home/link"));
  const most = { littleChangedBytes: 1_000, littleFiles: 100 };
  const [before, after] = [Date.now() - 60_000, Date.now() + 60_000];
  const volume = join(root, "volume");
  const isNearlySame = (since: number, given: Partial<typeof most> = {}) =>
    folders.isNearlySame(volume, since, { ...most, ...given });
  expect(await isNearlySame(before)).toBe(true);
  expect(await isNearlySame(before, { littleChangedBytes: 999 })).toBe(false);
  expect(await isNearlySame(after, { littleChangedBytes: 0 })).toBe(true);
  expect(await isNearlySame(after, { littleFiles: 3 })).toBe(false);
  expect(await folders.isNearlySame(join(root, "gone"), after, most)).toBe(false);
});

test("a file whose name is not UTF-8 is read again too, also where the folder is a link to another disk", async () => {
  symlinkSync(join(root, "volume"), join(root, "linked"));
  const path = Buffer.concat([Buffer.from(join(root, "volume/home/new\nline ")), Buffer.from([0xff, 0xe9])]);
  writeFileSync(path, "data");
  const before = statSync(path, { bigint: true }).ctimeNs;
  await Bun.sleep(20);
  await folders.refresh(join(root, "linked"), { readSince: Date.now() - 60_000 }, signal);
  expect(statSync(path, { bigint: true }).ctimeNs).toBeGreaterThan(before);
});

test("what was changed since a time is read again, with the mode and the time of change that it has", async () => {
  const [old, fresh, fifo] = ["old", "fresh file", "fifo"].map((name) => join(root, "volume/home", name));
  for (const path of [old, fresh]) writeFileSync(path ?? "", "data", { mode: 0o640 });
  chmodSync(fresh ?? "", 0o4755);
  utimesSync(old ?? "", 1_000, 1_000);
  expect(Bun.spawnSync(["mkfifo", fifo ?? ""]).success).toBe(true);
  symlinkSync("/etc/passwd", join(root, "volume/home/link"));
  const lookAt = (path = "") => {
    const { ctimeNs, mtimeNs, mode } = statSync(path, { bigint: true });
    return { ctimeNs, rest: [mtimeNs, mode] };
  };
  const before = [lookAt(old), lookAt(fresh), lookAt("/etc/passwd")];
  await Bun.sleep(20);
  await folders.refresh(join(root, "volume"), { readSince: Date.now() - 60_000, flushSince: 0 }, signal);
  const after = [lookAt(old), lookAt(fresh), lookAt("/etc/passwd")];
  expect(after.map(({ rest }) => rest)).toEqual(before.map(({ rest }) => rest));
  expect(after.map(({ ctimeNs }, index) => ctimeNs !== before[index]?.ctimeNs)).toEqual([false, true, false]);
  await folders.refresh(join(root, "gone"), { readSince: 0 }, signal);
  const stopped = folders.refresh(join(root, "volume"), { readSince: 0 }, AbortSignal.abort());
  await expect(stopped).rejects.toThrow("it was interrupted");
});
