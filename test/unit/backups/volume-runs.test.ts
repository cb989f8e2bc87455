import { beforeEach, expect, test } from "bun:test";
import type { AppVolumes, ContainerRef } from "../../../src/backups/service/platform.ts";
import type { StoredRun, StoredTarget } from "../../../src/backups/service/records.ts";
import type { Repository } from "../../../src/backups/service/repository.ts";
import type { ClosedApp } from "../../../src/backups/service/still.ts";
import { createVolumeRuns } from "../../../src/backups/service/volume-runs.ts";
import { createLimit } from "../../../src/base/words/limit.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { createBackupRecords, noPlatform } from "../../support/backup-parts.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

let calls: string[];
let runs: Map<string, StoredRun[]>;
let closed: Map<string, ClosedApp>;
let apps: AppVolumes[];
let shell: ContainerRef | undefined;
let emptyVolumes: string[];
/** What a command of an app does, by its first word. */
let commands: Record<string, (signal: AbortSignal) => Promise<void>>;
let stopping: AbortController;

beforeEach(() => {
  [calls, runs, closed, apps, emptyVolumes] = [[], new Map(), new Map(), [], []];
  [commands, stopping] = [{}, new AbortController()];
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
    calls.push(`read ${folder.slice("/volumes/".length)}${isEmpty ? ", empty" : ""}: ${tags[0]}`);
    return { snapshot: "aabb", bytes: 1, added: 1 };
  };
  const repository = { write, backup: write, confirmed: async (one: unknown) => one, drop: async () => undefined };
  const target = { name: "disk", url: "/mnt/copies" } as unknown as StoredTarget;
  return createVolumeRuns({
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
      writers: async () => [{ node: "local", id: "a", name: "a", state: "running" }],
      shellOf: async () => shell,
      async run(_, [command = ""], signal) {
        calls.push(command);
        await commands[command]?.(signal);
      },
    },
    still: { read: (_, { signal }, work) => work(signal), recover: async () => undefined },
    copying: createLimit(1),
    repositoryOf: async () => repository as unknown as Repository,
    look: async () => [],
    ...{ clock, log: silentLog, limits: { ...backupLimits, commandAloneMs: 1, postStopMs: 1 } },
  });
}

const newest = (name: string) => runs.get(`disk shop/${name}/data`)?.[0];

test("a pre that takes long lets other copies pass, and its own copy and post come after it", async () => {
  const slow = Promise.withResolvers<void>();
  commands = { "pre a": () => slow.promise };
  app("a", { pre: ["pre a"], post: ["post a"] });
  app("b");
  const volumes = make();
  await volumes.copyDue(stopping.signal);
  expect(calls).toEqual(["pre a", "read b: volume-first-pass", "read b: volume"]);
  // What is under way is not begun once more.
  await volumes.copyDue(stopping.signal);
  expect(calls).toHaveLength(3);
  slow.resolve();
  await volumes.settled();
  expect(calls.slice(3)).toEqual(["read a: volume", "post a"]);
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
  expect(calls).toEqual(["pre a", "post a"]);
  expect(newest("a")?.error).toContain("was started again after pre");
});

test("an empty volume is read once", async () => {
  emptyVolumes = ["/volumes/a"];
  app("a");
  await make().copyDue(stopping.signal);
  expect(calls).toEqual(["read a, empty: volume"]);
});
