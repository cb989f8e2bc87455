import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootTag, subjectTags, volumeTag } from "../../../src/backups/core/subject.ts";
import { createRestic } from "../../../src/backups/restic/restic.ts";
import { createLocks } from "../../../src/backups/service/locks.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";
import { patientBackups } from "../../support/patient-backups.ts";
import { waitFor } from "../../support/wait.ts";

// Each call of restic derives a key, which takes a second of CPU.
setDefaultTimeout(180_000);

const isRoot = process.getuid?.() === 0 && Bun.which("restic") !== null;
const access = { installation: "0123456789abcdef", password: "a word", credentials: {} };
let folder: string;
let env: Record<string, string>;
let now: number;

beforeEach(() => {
  now = 0;
  folder = mkdtempSync(join(tmpdir(), "berth-locks."));
  writeFileSync(join(folder, "data"), "some data");
  env = { RESTIC_REPOSITORY: join(folder, access.installation), RESTIC_PASSWORD: access.password };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const resticOf = (host: string) => createRestic(join(folder, "cache"), patientBackups, () => host);
const repositoryOf = (host: string) =>
  createRepository(
    resticOf(host),
    { ...access, url: folder },
    patientBackups,
    createLocks(() => now, patientBackups),
  );
/** Their names at the target: a look by restic takes so long that a copy may have ended meanwhile. */
const locksNow = () => readdirSync(join(folder, access.installation, "locks"));

/** A copy that is under way on a server of this name, and holds its lock; `end` kills it, so that the lock stays. */
async function copyUnderWay(host: string) {
  const words = ["sh", "-c", 'echo "$0" > /proc/sys/kernel/hostname && exec "$@"', host];
  const child = Bun.spawn(["unshare", "--uts", ...words, "restic", "backup", "--stdin", "--stdin-filename", "x"], {
    ...{ env: { ...process.env, ...env, RESTIC_CACHE_DIR: join(folder, "other") }, stdin: "pipe", stderr: "ignore" },
  });
  await waitFor("its lock", () => locksNow().length > 0);
  return async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
}

const prune = (host: string) => repositoryOf(host).prune(new AbortController().signal);

test.skipIf(!isRoot)(
  "a living copy of a server keeps its lock, whatever its host name; one that was killed does not",
  async () => {
    await repositoryOf("berth-aa").make();
    const kill = await copyUnderWay("berth-aa");
    // The same name: restic finds the process alive.
    await expect(prune("berth-aa")).rejects.toThrow(/locked/);
    expect(locksNow()).not.toEqual([]);
    // A twin on another machine, where no such process is.
    await expect(prune("berth-bb")).rejects.toThrow(/locked/);
    await kill();
    await expect(prune("berth-bb")).rejects.toThrow(/locked/);
    expect(locksNow()).not.toEqual([]);
    await prune("berth-aa");
    expect(locksNow()).toEqual([]);
  },
);

test.skipIf(!isRoot)("a removal waits for a copy of the same server, and a copy for a removal", async () => {
  const repository = repositoryOf("berth-aa");
  await repository.make();
  writeFileSync(join(folder, "data"), randomBytes(150_000_000));
  const { signal } = new AbortController();
  const copy = repository.write({ folder, exclude: ["0*", "cache"], tags: ["x"] }, signal);
  await waitFor("its lock", () => locksNow().length > 0);
  const removal = repository.prune(signal);
  expect((await copy).snapshot).not.toBe("");
  const next = repository.write({ folder, exclude: ["**"], tags: ["y"] }, signal);
  await removal;
  expect((await next).snapshot).not.toBe("");
});

test.skipIf(!isRoot)("a lock of a machine that is gone is left over once it has not changed for long", async () => {
  const said: string[] = [];
  let id = "a".repeat(64);
  const restic = {
    ...resticOf("berth-aa"),
    host: async () => "berth-aa",
    async run({ words }: { words: readonly string[] }) {
      said.push(words.join(" "));
      const stdout = words[0] === "list" ? `${id}\n` : JSON.stringify({ hostname: "debian" });
      return { ok: true, code: 0, stdout, trouble: "other", cause: "" } as const;
    },
  };
  const locks = createLocks(() => now, patientBackups);
  expect(await locks.leftOver(restic, env)).toBeUndefined();
  now += patientBackups.lockStaleMs - 1;
  // It was renewed: the copy lives.
  id = "b".repeat(64);
  expect(await locks.leftOver(restic, env)).toBeUndefined();
  now += patientBackups.lockStaleMs;
  expect(await locks.leftOver(restic, env)).toEqual([]);
});

test.skipIf(!isRoot)(
  "a machine that burnt while it removed data: all is read at once, and written once its lock has not changed for long",
  async () => {
    const [burnt, other] = ["berth-aaaaaaaaaaaaaaaa", "berth-bbbbbbbbbbbbbbbb"];
    const { signal } = new AbortController();
    const source = join(folder, "source");
    mkdirSync(join(source, "sub"), { recursive: true });
    writeFileSync(join(source, "sub/file"), "yesterday");
    const lost = repositoryOf(burnt);
    const cheap = [process.execPath, join(import.meta.dir, "../../lib/cheap-repository.ts")];
    expect(Bun.spawnSync(cheap, { env: { ...process.env, ...env } }).exitCode).toBe(0);
    await lost.make();
    const { snapshot } = await lost.backup({ folder: source, tags: ["volume"] }, signal);
    // An index that never answers holds up its removal of data. Its process lives on: another machine may have the same number.
    const index = join(folder, access.installation, "index", "a".repeat(64));
    Bun.spawnSync(["mkfifo", index]);
    const burning = new AbortController();
    const removal = lost.prune(burning.signal).catch(() => undefined);
    const held = await waitFor("a read of the index", () => {
      try {
        return openSync(index, constants.O_WRONLY | constants.O_NONBLOCK);
      } catch {
        return undefined;
      }
    });
    const [lock] = locksNow();
    rmSync(index);

    const repository = repositoryOf(other);
    const locked = expect.objectContaining({ reason: "Locked", message: expect.stringContaining(burnt) });
    await expect(repository.mark({ number: 2, life: "b".repeat(16) })).rejects.toEqual(locked);
    expect((await repository.snapshots()).map(({ id }) => id)).toEqual([snapshot]);
    expect(await repository.size(snapshot, undefined)).toBe(9);
    expect(await repository.size(snapshot, "sub/file")).toBe(9);
    expect(await repository.names(snapshot)).toEqual(["sub"]);
    expect(await repository.text(snapshot, "sub/file")).toBe("yesterday");
    expect(await repository.totalSize(signal)).toBeGreaterThan(0);
    await repository.restore(snapshot, join(folder, "back"), signal);
    expect(readFileSync(join(folder, "back/sub/file"), "utf8")).toBe("yesterday");
    now += patientBackups.serverLockStaleMs - 1;
    await expect(repository.prune(signal)).rejects.toEqual(locked);
    expect(locksNow()).toEqual([lock ?? ""]);

    // What the other one removes while it is read is missed: nothing counts as restored.
    const data = join(folder, access.installation, "data");
    const kept = join(folder, "kept");
    renameSync(data, kept);
    mkdirSync(data);
    const hasty = createRepository(
      createRestic(join(folder, "third"), { ...patientBackups, resticStallMs: 1_000 }, () => other),
      { ...access, url: folder },
      patientBackups,
    );
    const gone = /another machine may have removed data meanwhile.*already locked exclusively/;
    await expect(hasty.restore(snapshot, join(folder, "half"), signal)).rejects.toThrow(gone);
    rmSync(data, { recursive: true });
    renameSync(kept, data);

    now += 1;
    const next = repositoryOf(other);
    await expect(next.mark({ number: 2, life: "b".repeat(16) })).rejects.toEqual(locked);
    now += patientBackups.serverLockStaleMs;
    await repository.mark({ number: 2, life: "b".repeat(16) });
    expect(locksNow()).toEqual([]);
    burning.abort();
    closeSync(held);
    await removal;
  },
);

test.skipIf(!isRoot)(
  "a volume whose folder got another owner or mode keeps no copies beyond what is asked",
  async () => {
    const repository = repositoryOf("berth-aa");
    await repository.make();
    const [signal, source] = [new AbortController().signal, join(folder, "volume")];
    mkdirSync(source);
    const copy = async (ordinal: number | undefined, root: string) => {
      writeFileSync(join(source, "data"), root);
      const tags = subjectTags({ scope: "shop", kind: "statefulset", name: "db", claim: "data", ordinal });
      await repository.write({ folder: source, tags: [volumeTag, ...tags, rootTag(root)] }, signal);
      return [volumeTag, ...tags];
    };
    await copy(0, "700.0.0");
    const ofClaim = await copy(0, "750.70.70");
    await copy(undefined, "700.0.0");
    // The claim became a volume that all replicas share: the copies of the claim are not its own.
    await repository.forget(await copy(undefined, "755.0.0"), ["--keep-last", "1"], signal);
    const left = async () =>
      (await repository.snapshots()).map(({ tags }) => tags.find((tag) => tag.startsWith("root=")));
    expect(await left()).toEqual(["root=700.0.0", "root=750.70.70", "root=755.0.0"]);
    await repository.forget(ofClaim, ["--keep-last", "1"], signal);
    expect(await left()).toEqual(["root=750.70.70", "root=755.0.0"]);
  },
);

test.skipIf(!isRoot)("an empty folder is copied, and comes back empty", async () => {
  const repository = repositoryOf("berth-aa");
  const { signal } = new AbortController();
  await repository.make();
  const [empty, back] = ["empty", "back"].map((name) => join(folder, name)) as [string, string];
  for (const path of [empty, back]) mkdirSync(path);
  const { snapshot } = await repository.backup({ folder: empty, tags: ["volume"] }, signal);
  await repository.restore(snapshot, back, signal);
  expect(readdirSync(back)).toEqual([]);
  writeFileSync(join(empty, "left out"), "");
  const again = await repository.backup({ folder: empty, tags: ["volume"], exclude: ["**"], parent: snapshot }, signal);
  await repository.restore(again.snapshot, back, signal);
  expect(readdirSync(back)).toEqual([]);
});
