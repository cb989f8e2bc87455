import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dumpClaim, subjectTags, volumeTag } from "../../../src/backups/core/subject.ts";
import { folders } from "../../../src/backups/restic/folders.ts";
import type { RestoreParts, StoredRestore } from "../../../src/backups/service/restore-parts.ts";
import { createRestores } from "../../../src/backups/service/restore.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { createLimit } from "../../../src/base/words/limit.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

const subject = { scope: "data", kind: "statefulset", name: "light", claim: dumpClaim, ordinal: undefined };
const light = { scope: "data", name: "light" };

let home: string;
/** What the block holds. */
let data: string;
let volumes: Set<string>;
let records: Map<string, StoredRestore>;
/** Fails a command of the plugin that meets such data. */
let fails: { dump?: string; restore?: string };
let isKilled: boolean;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "restore-dump."));
  [data, volumes, records, fails, isKilled] = ["old", new Set(["v"]), new Map(), {}, false];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function refuse(wanted: string | undefined, found: string): void {
  if (wanted === found) throw new Failure("conflict", `exit code 1; it printed last: ${found}`);
}

function make() {
  const parts = {
    records: {
      restores: () => [...records.values()].map((one) => ({ ...one })),
      putRestore: async (one: StoredRestore) => void records.set(one.id, one),
      removeRestore: async (id: string) => void records.delete(id),
      drills: () => [],
    },
    targets: () => ["disk"],
    source: async () => ({
      snapshots: async () => [{ id: "aabbccdd", at: 1_000, tags: [volumeTag, ...subjectTags(subject)] }],
      size: async () => 4,
      restore: async (_: string, folder: string) => writeFileSync(join(folder, "dump"), "good"),
    }),
    volumes: {
      databases: () => [],
      list: () => [{ ...subject, claim: "data", ordinal: 0, volume: "v", labels: {} }],
      find: async (name: string) => (volumes.has(name) ? {} : undefined),
      folder: async () => home,
      async make(name: string) {
        volumes.add(name);
        data = "";
      },
      hold: () => () => undefined,
    },
    wal: { newest: async () => undefined },
    dumps: {
      async dump(_: unknown, file: string) {
        refuse(fails.dump, data);
        writeFileSync(file, data);
      },
      async restore(_: unknown, file: string, signal: AbortSignal) {
        if (isKilled) await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
        const read = readFileSync(file, "utf8");
        data = "half";
        refuse(fails.restore, read);
        data = read;
      },
      find: (of: { name: string }) => (of.name === "light" ? [{ volume: "v", labels: {} }] : undefined),
      async make(id: string) {
        mkdirSync(join(home, id));
        return join(home, id);
      },
    },
    folders: { ...folders, space: async () => ({ disk: "1", freeBytes: 1e12 }) },
    ...{ turn: createLimit(1), clock: createFakeClock(2_000), log: silentLog, limits: backupLimits },
    randomBytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
    ...{ isOurs: async () => false, onEvent: async () => undefined },
  };
  return createRestores(parts as unknown as RestoreParts);
}

const row = () => [...records.values()][0];
const isEnded = () => ["done", "failed", "undone"].includes(row()?.state ?? "");
async function restored(body: Parameters<ReturnType<typeof make>["begin"]>[0]) {
  const restores = make();
  await restores.begin(body, "ann");
  await waitFor("the end of the restore", isEnded);
  return restores;
}

test("in place the plugin reads the dump, and an undo brings back what it printed before", async () => {
  const restores = await restored({ ...light, way: "in_place" });
  expect([row()?.state, data]).toEqual(["done", "good"]);
  await restores.undo(light, "ann");
  await waitFor("the undo", () => row()?.state === "undone");
  expect(data).toBe("old");
});

test("what cannot be kept is not replaced, and what a failed restore has left half done is put right", async () => {
  fails = { dump: "old" };
  await restored({ ...light, way: "in_place" });
  expect([row()?.state, data]).toEqual(["failed", "old"]);
  expect(row()?.error).toContain("what is there cannot be kept, so it stays: exit code 1");
  expect(row()?.error).toContain("remove the volumes of the app");
  [records, fails] = [new Map(), { restore: "good" }];
  await restored({ ...light, way: "in_place" });
  expect([row()?.state, data]).toEqual(["failed", "old"]);
  expect(row()?.error).toContain("it printed last: good; what was there is back");
  expect(readdirSync(home)).toEqual([]);
});

test("a block that has lost its volume gets an empty one, and then the dump; one that lacks nothing stays", async () => {
  await expect(make().begin(light, "ann")).rejects.toThrow("no volume is missing (data/light/+dump); add --in-place");
  await expect(make().begin({ ...light, way: "beside" }, "ann")).rejects.toThrow("is read by the plugin of the block");
  volumes.clear();
  const plan = await make().plan({});
  expect([plan.volumes.map(({ what, way }) => [what, way]), plan.uncopied]).toEqual([
    [["data/light/+dump", "missing"]],
    [],
  ]);
  await restored({});
  expect([row()?.state, data, volumes.has("v"), readdirSync(home)]).toEqual(["done", "good", true, []]);
});

test("a server that is killed while the plugin reads has it read once more at its next start", async () => {
  isKilled = true;
  await make().begin({ ...light, way: "in_place" }, "ann");
  await waitFor("the plugin to read", () => row()?.state === "placing");
  isKilled = false;
  const stopping = new AbortController();
  const running = make().run(stopping.signal);
  await waitFor("the end of the restore", isEnded);
  stopping.abort();
  await running;
  expect([row()?.state, data, existsSync(join(row()?.stage ?? "", "before"))]).toEqual(["done", "good", true]);
});
