import { beforeEach, expect, test } from "bun:test";
import { dumpClaim } from "../../../src/backups/core/subject.ts";
import type { AppVolumes, ContainerRef } from "../../../src/backups/service/platform.ts";
import type { StoredRun, StoredTarget } from "../../../src/backups/service/records.ts";
import type { Repository } from "../../../src/backups/service/repository.ts";
import type { ClosedApp } from "../../../src/backups/service/still.ts";
import { createVolumeRuns } from "../../../src/backups/service/volume-runs.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { createLimit } from "../../../src/base/words/limit.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { createBackupRecords, noDumps, noPlatform } from "../../support/backup-parts.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

let calls: string[];
let runs: Map<string, StoredRun[]>;
let closed: Map<string, ClosedApp>;
let apps: AppVolumes[];
let shell: ContainerRef | undefined;
let emptyVolumes: string[];
/** Volumes of which little has changed, and what happens to a pass that has little time. */
let nearlySame: string[];
let isSlow: boolean;
let isAway: boolean;
/** After how many calls files since which time were marked to be read again. */
let doubted: [calls: number, since: number][];
/** When it was looked last who acts, and what a look finds then. */
let hasLooked: boolean;
let onLook: () => void;
/** What a command of an app does, by its first word. */
let commands: Record<string, (signal: AbortSignal) => Promise<void>>;
let stopping: AbortController;

beforeEach(() => {
  [calls, runs, closed, apps, emptyVolumes] = [[], new Map(), new Map(), [], []];
  [commands, stopping, nearlySame, isSlow, hasLooked] = [{}, new AbortController(), [], false, false];
  onLook = () => undefined;
  isAway = false;
  doubted = [];
  shell = { node: "local", id: "a", startedAt: 1 };
});

function app(name: string, commandsOf: { pre?: string[]; post?: string[] } = {}): void {
  const subject = { scope: "shop", kind: "deployment", name, claim: "data", ordinal: undefined };
  const nothing = { everyText: "24h", keep: undefined, target: undefined, exclude: [] };
  const policy = { everyMs: 86_400_000, ...nothing, pre: [], post: [], ...commandsOf };
  apps.push({ ...subject, policy, volumes: [{ subject, volume: name }], updatedAt: 0 });
}

function make() {
  const clock = createFakeClock(1_000_000);
  const write = async ({ folder, tags, isEmpty = false }: Parameters<Repository["write"]>[0]) => {
    if (isAway) throw new Failure("unavailable", "no route to host");
    calls.push(`read ${folder.slice("/volumes/".length)}${isEmpty ? ", empty" : ""}: ${tags[0]}`);
    return { snapshot: "aabb", bytes: 1, added: 1 };
  };
  const drop = async (ids: readonly string[]) => void calls.push(`drop ${ids.join(" ")}`);
  const repository = { write, backup: write, confirmed: async (one: unknown) => one, drop };
  const target = { name: "disk", url: "/mnt/copies" } as unknown as StoredTarget;
  return createVolumeRuns({
    dumps: {
      ...noDumps,
      async dump({ name }) {
        calls.push(`dump ${name}`);
        await commands[`dump ${name}`]?.(stopping.signal);
      },
      async make(id) {
        calls.push(`make ${id}`);
        return `/volumes/${id}`;
      },
      remove: async (id) => void calls.push(`remove ${id}`),
    },
    records: {
      ...createBackupRecords().records,
      targets: () => [target],
      runs: (id) => runs.get(id) ?? [],
      putRuns: async (to, rows, what) => void runs.set(`${to} ${what}`, [...rows]),
      closed: () => [...closed.values()],
      async changeClosed(volume, post) {
        if (post === undefined) closed.delete(volume.volume);
        else closed.set(volume.volume, { volume, post });
      },
    },
    platform: {
      ...noPlatform,
      apps: () => apps,
      isEmpty: async (folder) => emptyVolumes.includes(folder),
      refresh: async (_, { since }) => {
        if (since !== undefined) doubted.push([calls.length, since]);
      },
      isNearlySame: async (folder) => nearlySame.includes(folder),
      writers: async () => [{ node: "local", id: "a", name: "a", state: "running" }],
      shellOf: async () => shell,
      async run(_, [command = ""], signal) {
        calls.push(command);
        await commands[command]?.(signal);
      },
    },
    still: {
      async read(_, { signal, maxMs, onPaused }, work) {
        onPaused(maxMs !== undefined && isSlow ? maxMs : 7);
        const made = await work(signal);
        if (maxMs !== undefined && isSlow) throw new Failure("conflict", "too long");
        return made;
      },
      recover: async () => undefined,
    },
    copying: createLimit(1),
    repositoryOf: async () => repository as unknown as Repository,
    look: async () => {
      calls.push("look");
      onLook();
      return [];
    },
    isFresh: () => false,
    looked: () => hasLooked,
    ...{ clock, log: silentLog, limits: { ...backupLimits, commandAloneMs: 1, postStopMs: 1 } },
  });
}

test("a block whose plugin dumps it is copied by its dump alone; a dump that fails is no copy, and leaves nothing", async () => {
  app("light");
  const subject = { scope: "shop", kind: "deployment", name: "light", claim: dumpClaim, ordinal: undefined };
  apps = apps.map((one) => ({ ...one, volumes: [{ subject, volume: "" }] }));
  const volumes = make();
  await volumes.copyDue(stopping.signal);
  const id = "dump-deployment-shop-light";
  expect(calls).toEqual(["look", `make ${id}`, "dump light", `read ${id}: volume`, "look", `remove ${id}`]);
  expect(runs.get("disk shop/light/+dump")?.[0]?.error).toBeUndefined();

  calls = [];
  commands = { "dump light": () => Promise.reject(new Failure("conflict", "exit code 3; it printed last: torn")) };
  const [copy] = volumes.copiesOf("shop/light", [{ name: "disk" } as StoredTarget]);
  await copy?.start(stopping.signal);
  expect(calls).toEqual(["look", `make ${id}`, "dump light", `remove ${id}`]);
  expect(runs.get("disk shop/light/+dump")?.[0]?.error).toContain("exit code 3");
});

const newest = (name: string) => runs.get(`disk shop/${name}/data`)?.[0];

test("a pre that takes long lets other copies pass, and its own copy and post come after it", async () => {
  const slow = Promise.withResolvers<void>();
  commands = { "pre a": () => slow.promise };
  app("a", { pre: ["pre a"], post: ["post a"] });
  app("b");
  const volumes = make();
  await volumes.copyDue(stopping.signal);
  expect(calls).toEqual(["look", "pre a", "look", "read b: volume-first-pass", "read b: volume", "look"]);
  // What is under way is not begun once more.
  await volumes.copyDue(stopping.signal);
  expect(calls).toHaveLength(6);
  slow.resolve();
  await volumes.settled();
  expect(calls.slice(6)).toEqual(["read a: volume", "look", "post a"]);
  expect([newest("a")?.error, newest("b")?.error, closed.size]).toEqual([undefined, undefined, 0]);
});

test("a post that outlasts the stop of the server is cut, said, and run by the next start", async () => {
  commands = {
    "post a": (signal) => new Promise((_, fail) => signal.addEventListener("abort", () => fail(new Error("cut")))),
  };
  app("a", { post: ["post a"] });
  const first = make();
  void first.copyDue(stopping.signal);
  await waitFor("post", async () => calls.includes("post a"));
  expect(closed.size).toBe(1);
  stopping.abort();
  await first.settled();
  expect(newest("a")?.error).toContain("its next start runs it");
  [calls, commands] = [[], {}];
  const next = make();
  next.reopen(new AbortController().signal);
  await next.settled();
  expect([calls, closed.size]).toEqual([["post a"], 0]);
});

test("an app that was started again after pre is not copied as if pre still held", async () => {
  commands = {
    async "pre a"() {
      shell = { node: "local", id: "a", startedAt: 2 };
    },
  };
  app("a", { pre: ["pre a"], post: ["post a"] });
  const volumes = make();
  await volumes.copyDue(stopping.signal);
  await volumes.settled();
  expect(calls).toEqual(["look", "pre a", "post a"]);
  expect(newest("a")?.error).toContain("was started again after pre");
});

test("an empty volume is read once", async () => {
  emptyVolumes = ["/volumes/a"];
  app("a");
  await make().copyDue(stopping.signal);
  expect(calls).toEqual(["look", "read a, empty: volume", "look"]);
});

const copied: StoredRun = { startedAt: 1, endedAt: 2, snapshot: "aa", bytes: 1, added: 1, error: undefined };

/** What is done for a copy that is due once more. */
async function again(volumes = make()): Promise<string[]> {
  calls = [];
  runs.set("disk shop/a/data", [copied]);
  for (const { start } of volumes.copiesOf("shop/a", [{ name: "disk" } as StoredTarget])) await start(stopping.signal);
  await volumes.settled();
  return calls;
}

test("a volume of which little has changed since its last copy is only read while nothing writes to it", async () => {
  app("a");
  nearlySame = ["/volumes/a"];
  hasLooked = true;
  expect(await again()).toEqual(["read a: volume", "look"]);
  expect(newest("a")).toMatchObject({ error: undefined, snapshot: "aabb", pausedMs: 7 });
  nearlySame = [];
  expect(await again()).toEqual(["read a: volume-first-pass", "read a: volume", "look"]);
  runs.clear();
  nearlySame = ["/volumes/a"];
  await make().copyDue(stopping.signal);
  expect(calls.slice(-3)).toEqual(["read a: volume-first-pass", "read a: volume", "look"]);
});

test("what a mapped file got since the copy before, and between the two passes, is read again", async () => {
  app("a");
  hasLooked = true;
  await again();
  expect(doubted).toEqual([
    [0, copied.startedAt],
    [1, 1_000_000],
  ]);
  app("b", { pre: ["pre"] });
  [calls, doubted] = [[], []];
  await make().copyDue(stopping.signal);
  // Of what was never copied, restic knows nothing.
  expect(doubted).toEqual([]);
});

test("a target that does not take the little in time gets it as it gets much, also the next time", async () => {
  app("a");
  [nearlySame, isSlow, hasLooked] = [["/volumes/a"], true, true];
  const volumes = make();
  const both = ["read a: volume-first-pass", "read a: volume", "look"];
  expect(await again(volumes)).toEqual(["read a: volume", "drop aabb", ...both]);
  expect(newest("a")?.error).toBeUndefined();
  expect(await again(volumes)).toEqual(both);
});

test("a target that went away a moment ago costs no further pause, and is tried again as any that is away", async () => {
  app("a");
  [nearlySame, isAway, hasLooked] = [["/volumes/a"], true, true];
  const volumes = make();
  await again(volumes);
  expect([newest("a")?.error, newest("a")?.pausedMs]).toEqual(["no route to host", undefined]);
  isAway = false;
  expect(await again(volumes)).toEqual(["read a: volume-first-pass", "read a: volume", "look"]);
  expect(await again(volumes)).toEqual(["read a: volume", "look"]);
});

test("a copy that was made while another server took over does not count, and goes", async () => {
  app("a");
  hasLooked = true;
  onLook = () => {
    throw new Failure("conflict", "another server acts");
  };
  const [, , ...after] = await again();
  expect(after).toEqual(["look", "drop aabb"]);
  expect(newest("a")).toMatchObject({ error: "another server acts", snapshot: undefined });
});
