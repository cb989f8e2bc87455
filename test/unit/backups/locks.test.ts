import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
  expect(await locks.areLeftOver(restic, env)).toBe(false);
  now += patientBackups.lockStaleMs - 1;
  // It was renewed: the copy lives.
  id = "b".repeat(64);
  expect(await locks.areLeftOver(restic, env)).toBe(false);
  now += patientBackups.lockStaleMs;
  expect(await locks.areLeftOver(restic, env)).toBe(true);
});

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
