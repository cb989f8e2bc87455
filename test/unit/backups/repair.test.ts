import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Repair } from "../../../src/backups/api/repairs.ts";
import { makeRecoveryKey } from "../../../src/backups/core/recovery-key.ts";
import { readFaults, readPlaces } from "../../../src/backups/core/damage.ts";
import { subjectTags, volumeTag } from "../../../src/backups/core/subject.ts";
import { createRestic } from "../../../src/backups/restic/restic.ts";
import { createRepairs } from "../../../src/backups/service/repairs.ts";
import type { StoredTarget } from "../../../src/backups/service/records.ts";
import { createRepository } from "../../../src/backups/service/repository.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { isRoot } from "../../support/is-root.ts";
import { patientBackups } from "../../support/patient-backups.ts";
import { createLimit } from "../../../src/base/words/limit.ts";
import { createLocks } from "../../../src/backups/service/locks.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

setDefaultTimeout(180_000);

/** A target that has lost data, with restic itself. */
const keyOf = (installation: string, first: number) =>
  makeRecoveryKey(
    installation,
    new Uint8Array(200).map((_, at) => first + at),
  ).text;
const access = { installation: "0123456789abcdef", password: keyOf("0123456789abcdef", 7) };
const { signal } = new AbortController();
let folder: string;
let source: string;
let store: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-repair."));
  [source, store] = [join(folder, "source"), join(folder, access.installation)];
  mkdirSync(join(source, "sub/deep"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const volume = { scope: "shop", kind: "statefulset", name: "db", claim: "data", ordinal: undefined };
const write = (path: string, text: string) => writeFileSync(join(source, path), text);

function place() {
  // A pack that is missing is asked for again and again.
  const restic = createRestic(join(folder, "cache"), { ...patientBackups, resticStallMs: 2_000 }, () => "berth-aa");
  let target = { name: "disk", url: folder, credentials: {} } as StoredTarget;
  const given = { ...access, credentials: {}, url: folder };
  const repository = createRepository(restic, given, patientBackups, undefined, () => repairs.isFresh("disk"));
  const copy = () => repository.backup({ folder: source, tags: [volumeTag, ...subjectTags(volume)] }, signal);
  const changeTarget = async (_: string, change: (stands: StoredTarget) => StoredTarget) => {
    target = change(target);
  };
  let seen: string[] = [];
  const look = async () => {
    seen = (await repository.snapshots()).map(({ id }) => id);
  };
  const copies = [{ what: "shop/db/data", start: async () => void (await copy()) }];
  const repairs = createRepairs(
    {
      ...{ records: { changeTarget, runs: () => [] }, stored: () => target, look },
      ...{ repositoryOf: async () => repository, onEvent: async () => undefined },
      ...{ clock: createFakeClock(), log: silentLog, closing: signal, limits: patientBackups },
      ...{ restic, locks: createLocks(() => 0, patientBackups) },
      random: () => Buffer.from(String(repairs.list().repairs.length)),
    },
    {
      ...{ turn: createLimit(1), reading: createLimit(1) },
      states: { alone: createLimit(1), copyTo: async () => undefined },
      ...{ volumes: { copiesOf: () => copies }, beside: { copiesOf: () => [] } },
    },
  );
  async function ended(step: Repair["step"], key?: string, error?: string): Promise<Repair> {
    const { id } = repairs.begin("disk", { step, key }, "ann");
    const isEnded = (one: Repair) => one.id === id && one.ended_at !== undefined;
    const repair = await waitFor("its end", () => repairs.list().repairs.find(isEnded), 120_000);
    expect(repair.error).toEqual(error);
    return repair;
  }
  return { repository, copy, ended, damaged: () => target.damaged, seen: () => seen };
}

/** As `restic init` makes it; each command would take a sixth of a second to derive a usual key. */
function makeCheap(repository: string, password: string): void {
  const words = [process.execPath, join(import.meta.dir, "../../lib/cheap-repository.ts")];
  const env = { ...process.env, RESTIC_REPOSITORY: repository, RESTIC_PASSWORD: password };
  expect(Bun.spawnSync(words, { env }).exitCode).toBe(0);
}

/** Files of the repository below a folder, by their names. */
const filesIn = (part: string) =>
  readdirSync(join(store, part), { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );

test.skipIf(!isRoot || Bun.which("restic") === null)(
  "what a target has lost is found, copied again where it is still here, and named where it is not",
  async () => {
    const { repository, copy, ended, damaged, seen } = place();
    makeCheap(store, access.password);
    await repository.make();
    const added = async () => {
      const before = new Set([...filesIn("data"), ...filesIn("index")]);
      const { snapshot } = await copy();
      return { snapshot, files: [...filesIn("data"), ...filesIn("index")].filter((path) => !before.has(path)) };
    };
    write("kept", "from the beginning");
    write("sub/deep/far", "deep below");
    const first = await added();
    write("sub/lost", "of the second copy alone");
    write('sub/"odd"\n', "of the second copy alone, too");
    const second = await added();
    rmSync(join(source, "sub/lost"));
    rmSync(join(source, 'sub/"odd"\n'));
    write("kept", "changed");
    write("sub/deep/more", "of the third copy");
    const third = await added();
    const whole = join(folder, "whole");
    cpSync(store, whole, { recursive: true });
    const again = () => {
      for (const path of [store, join(folder, "cache")]) rmSync(path, { recursive: true });
      cpSync(whole, store, { recursive: true });
    };
    /** What a copy wrote: a pack of files, one of folders, and an index. */
    const [data = "", trees = ""] = second.files
      .filter((path) => path.includes("/data/"))
      .sort((a, b) => readFileSync(a).length - readFileSync(b).length);
    const isGreen = async () => repository.check("1/1", signal);

    // The data of files: one copy alone has them.
    truncateSync(data, 40);
    expect((await ended("look")).faults).toEqual(["1 pack of data is missing or damaged"]);
    const repaired = await ended("repair");
    expect(repaired).toMatchObject({ copies: [{ what: "state" }, { what: "shop/db/data" }] });
    const lost = { what: "shop/db/data", missing: ['/sub/"odd"\n', "/sub/lost"], missing_count: 2 };
    expect(repaired.damaged).toMatchObject([{ id: second.snapshot, ...lost }]);
    expect(damaged()).toEqual([second.snapshot]);
    await repository.restore(third.snapshot, join(folder, "back"), signal);
    expect(readFileSync(join(folder, "back/kept"), "utf8")).toBe("changed");
    const removed = await ended("remove");
    expect(removed).toMatchObject({ removed: 1, faults: [], damaged: [] });
    // Where the note which server acts was among them, the look has written it again.
    expect(seen()).toEqual((await repository.snapshots()).map(({ id }) => id));
    expect(damaged()).toEqual([]);
    await isGreen();
    expect((await repository.snapshots()).map(({ id }) => id)).not.toContain(second.snapshot);

    // An index: nothing is lost.
    again();
    const [index = ""] = second.files.filter((path) => path.includes("/index/"));
    truncateSync(index, 30);
    expect((await ended("look")).faults.join()).toContain("index");
    expect(await ended("repair")).toMatchObject({ faults: [], damaged: [] });
    await isGreen();

    // Folders of the second copy, and then the data that two copies share: it is still here.
    again();
    rmSync(trees);
    expect((await ended("repair")).damaged).toMatchObject([{ id: second.snapshot, missing: ["/"] }]);
    again();
    for (const path of first.files) if (path.includes("/data/")) rmSync(path);
    const partly = await ended("repair");
    expect(partly.damaged.map(({ id }) => id)).toEqual([first.snapshot, second.snapshot]);
    expect((await ended("remove")).removed).toBe(2);
    await isGreen();
    const newest = (await repository.snapshots()).at(-1)?.id ?? "";
    await repository.restore(newest, join(folder, "newest"), signal);
    expect(readFileSync(join(folder, "newest/sub/deep/far"), "utf8")).toBe("deep below");
  },
);

test.skipIf(!isRoot || Bun.which("restic") === null)(
  "copies of an earlier key come over with their times and tags; cut off, it goes on",
  async () => {
    const { repository, copy, ended } = place();
    const oldKey = keyOf("fedcba9876543210", 0);
    const restic = createRestic(join(folder, "cache"), patientBackups, () => "berth-aa");
    const given = { installation: "fedcba9876543210", password: oldKey, credentials: {}, url: folder };
    const old = createRepository(restic, given, patientBackups);
    makeCheap(store, access.password);
    makeCheap(join(folder, given.installation), oldKey);
    await repository.make();
    await old.make();
    const tags = [volumeTag, ...subjectTags(volume)];
    const made: string[] = [];
    for (const text of ["first", "second"]) {
      write("file", text);
      made.push((await old.backup({ folder: source, tags }, signal)).snapshot);
    }
    await old.mark({ number: 3, life: "aa" });
    await copy();
    await repository.take({ installation: given.installation, password: oldKey }, made[0] ?? "", signal);
    const over = await ended("carry_over", ` ${oldKey.toUpperCase()}\n`);
    // The first one was there already, and who acts is not a copy.
    expect(over.copies).toEqual([{ what: "shop/db/data", at: expect.any(String), error: undefined }]);
    const [before, after] = [await old.snapshots(), await repository.snapshots()];
    const nameOf = ({ at, tags: named }: { at: number; tags: string[] }) => [at, named];
    expect(after.map(nameOf)).toEqual(expect.arrayContaining(before.slice(0, 2).map(nameOf)));
    const second = after.find(({ at }) => at === before[1]?.at)?.id ?? "";
    await repository.restore(second, join(folder, "back"), signal);
    expect(readFileSync(join(folder, "back/file"), "utf8")).toBe("second");
    expect((await ended("carry_over", oldKey)).copies).toEqual([]);
    const today = "this is the recovery key of today: give the one that berth backup key --new replaced";
    expect((await ended("carry_over", access.password, today)).copies).toEqual([]);
  },
);

test("what a check says of other faults is passed on, and packs that no index names are none", () => {
  const said = `pack ${"a".repeat(64)}: not referenced in any index
error: load <snapshot/0f57676d3e>: invalid data returned
error for tree 12090b60:
  ReadFull(<data/a74c72555d>): EOF
Fatal: repository contains errors`;
  expect(readFaults(said)).toEqual({
    ...{ packs: [], trees: ["12090b60"], files: [] },
    others: ["load <snapshot/0f57676d3e>: invalid data returned"],
  });
});

test("places are read between what restic says about folders that it cannot read, and no name of a file says that", () => {
  const [lost, copy] = ["ab".repeat(32), "cd".repeat(32)];
  const named = `/Unable to load tree ${lost} ... which belongs to snapshot ${copy}`;
  const row = (path: string) => JSON.stringify({ object_type: "tree", id: "ef", snapshot: "12", path });
  const said = `Unable to load tree ${lost}\n ... which belongs to snapshot ${copy}.\n`;
  const rows = [named, "/b"].map((path) => ({ tree: "ef", snapshot: "12", path }));
  expect(readPlaces(`${said}[${row(named)}${said},${row("/b")}]\n`, "")).toEqual({
    rows,
    cut: [1, 2].map(() => ({ tree: lost, snapshot: copy })),
  });
  expect(readPlaces(`[${row(named)},${row("/b")}]\n`, "")).toEqual({ rows, cut: [] });
});
