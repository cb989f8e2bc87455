import { beforeEach, expect, test } from "bun:test";
import { createLimit } from "../../../src/base/words/limit.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { createImageCopies } from "../../../src/backups/service/image-copies.ts";
import type { StoredRun, StoredTarget } from "../../../src/backups/service/records.ts";
import type { Repository } from "../../../src/backups/service/repository.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";

/** Images of an engine at two targets, which hold what is written to them. */
const gib = 1024 ** 3;
let clock: FakeClock;
let wanted: string[];
/** Bytes of each image that the engine has. */
let engine: Map<string, number>;
/** Copies by target. */
let copies: Record<string, { id: string; tags: readonly string[]; at: number }[]>;
let away: string[];
let asked: string[];
let freeBytes: number;
let open: number;
let runs: Map<string, readonly StoredRun[]>;
const signal = new AbortController().signal;

beforeEach(() => {
  clock = createFakeClock(100 * 86_400_000);
  [wanted, engine, copies, away, asked] = [[], new Map(), { near: [], far: [] }, [], []];
  [freeBytes, open, runs] = [100 * gib, 0, new Map()];
});

const targets = [
  { name: "near", images: true },
  { name: "far", images: true },
  { name: "plain" },
] as unknown as StoredTarget[];

function repositoryOf(target: string): Repository {
  const all = () => {
    asked.push(target);
    if (away.includes(target)) throw new Error("does not answer");
    return copies[target] ?? [];
  };
  return {
    snapshots: async () => all(),
    size: async () => gib,
    async backup({ folder, tags }: { folder: string; tags: string[] }) {
      const id = `${target}-${all().length}-${folder.slice("saved ".length)}`;
      copies[target] = [...all(), { id, tags, at: clock.now() }];
      return { snapshot: id, bytes: 10, added: 5 };
    },
    restore: async (id: string, folder: string) => void loads.set(folder, id.split("-").at(-1) ?? ""),
    async drop(ids: readonly string[]) {
      copies[target] = all().filter(({ id }) => !ids.includes(id));
    },
  } as unknown as Repository;
}

const loads = new Map<string, string>();

function make() {
  let stages = 0;
  return createImageCopies({
    ...{ clock, log: silentLog, limits: backupLimits, turn: createLimit(1), closing: signal },
    records: {
      targets: () => targets,
      runs: (id) => [...(runs.get(id) ?? [])],
      putRuns: async (target, rows, what) => void runs.set(`${target} ${what}`, rows),
    },
    repositoryOf: async ({ name }) => repositoryOf(name),
    look: async (_, repository) => repository.snapshots(),
    images: {
      wanted: () => wanted,
      sizeOf: async (id) => engine.get(id),
      async stage() {
        open += 1;
        stages += 1;
        const close = async () => {
          open -= 1;
        };
        return { folder: `saved ${saved.shift() ?? `in${stages}`}`, freeBytes, close };
      },
      save: async (id) => expect(engine.has(id)).toBe(true),
      load: async (folder) => void engine.set(loads.get(folder) ?? "", gib),
    },
  });
}

const later = (ms: number) => clock.moveTo(clock.steady() + ms);

/** What the folders of saved images are called, in turn. */
let saved: string[] = [];

const held = (target: string) => (copies[target] ?? []).flatMap(({ tags }) => tags.filter((tag) => tag !== "image"));

test("each image is copied once to each target that takes images, and nothing is asked while nothing changes", async () => {
  [wanted, engine] = [["a", "b"], new Map(["a", "b", "c"].map((id) => [id, gib]))];
  const images = make();
  await images.copyDue(signal);
  expect([held("near"), held("far")]).toEqual([
    ["image=a", "image=b"],
    ["image=a", "image=b"],
  ]);
  asked = [];
  await images.copyDue(signal);
  expect(asked).toEqual([]);
  wanted = ["b", "c"];
  await images.copyDue(signal);
  expect(held("near")).toEqual(["image=a", "image=b", "image=c"]);
  expect([open, runs.get("near images")?.length, runs.get("plain images")]).toEqual([0, 2, undefined]);
  expect(runs.get("near images")?.[0]).toMatchObject({ bytes: 10, added: 5, error: undefined });
});

test("a target that does not answer, and a full disk, are failed runs that are tried again", async () => {
  [wanted, engine, away] = [["a"], new Map([["a", gib]]), ["near"]];
  const images = make();
  await images.copyDue(signal);
  expect([runs.get("near images")?.[0]?.error, held("far")]).toEqual([expect.any(String), ["image=a"]]);
  [away, freeBytes] = [[], gib];
  await images.copyDue(signal);
  expect(held("near")).toEqual([]);
  later(backupLimits.retryMs);
  await images.copyDue(signal);
  expect(runs.get("near images")?.[0]?.error).toContain("the disk is too full");
  freeBytes = 2 * gib;
  later(backupLimits.retryMs);
  await images.copyDue(signal);
  expect([held("near"), open]).toEqual([["image=a"], 0]);
});

test("an image that the engine has lost comes from the first target that has it; what none has is not asked for again and again", async () => {
  [wanted, engine, saved] = [["a"], new Map([["a", gib]]), ["a", "a"]];
  const images = make();
  await images.copyDue(signal);
  copies["near"] = [];
  expect(await images.bring("a")).toBe(true);
  engine.clear();
  asked = [];
  expect(await Promise.all([images.bring("a"), images.bring("a")])).toEqual([true, true]);
  expect([engine.has("a"), asked, open]).toEqual([true, ["near", "far"], 0]);
  asked = [];
  expect([await images.bring("x"), await images.bring("x")]).toEqual([false, false]);
  expect(asked).toEqual(["near", "far"]);
  later(backupLimits.retryMs);
  expect(await images.bring("x")).toBe(false);
  expect(asked).toHaveLength(4);
});

test("copies of images that nothing needs leave a month after they were made", async () => {
  [wanted, engine] = [["a", "b"], new Map(["a", "b"].map((id) => [id, gib]))];
  const images = make();
  await images.copyDue(signal);
  wanted = ["b"];
  const [near] = targets;
  if (near === undefined) throw new Error("no target");
  await images.expire(near, repositoryOf("near"), signal);
  expect(held("near")).toEqual(["image=a", "image=b"]);
  later(backupLimits.imagesKeptMs + 1);
  await images.expire(near, repositoryOf("near"), signal);
  expect(held("near")).toEqual(["image=b"]);
});
