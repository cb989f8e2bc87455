import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createDrills } from "../../../src/backups/service/drills.ts";
import { createRehearsals } from "../../../src/backups/service/rehearsals.ts";
import { createTrials } from "../../../src/backups/service/trials.ts";
import type { DrillParts } from "../../../src/backups/service/drill-parts.ts";
import { drillId, type StoredDrill } from "../../../src/backups/core/drills.ts";
import { subjectTags, volumeTag } from "../../../src/backups/core/subject.ts";
import type { AppVolumes } from "../../../src/backups/service/platform.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { createGate } from "../../../src/base/deliver/gate.ts";
import { createLimit, enter, type Limit } from "../../../src/base/words/limit.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

const now = Date.parse("2026-11-29T12:00:00Z");
const policy = { everyMs: 1, everyText: "1d", keep: undefined, target: undefined, pre: [], post: [], exclude: [] };

function app(name: string, protectedBy: AppVolumes["policy"] = policy): AppVolumes {
  const subject = { scope: "shop", kind: "deployment", name, claim: "files", ordinal: undefined };
  return {
    scope: "shop",
    kind: "deployment",
    name,
    policy: protectedBy,
    volumes: [{ subject, volume: `v-${name}` }],
    updatedAt: 0,
  };
}

interface World {
  apps?: AppVolumes[];
  copied?: string[];
  refused?: Record<string, string>;
  damaged?: string;
  freeBytes?: number;
  freeMemory?: number;
  drills?: StoredDrill[];
  /** Apps that do not start, with what they say; and what the environment of an app names. */
  broken?: Record<string, string>;
  names?: Record<string, string[]>;
  /** Refused once it was tried. */
  changed?: string;
  verdict?: "proved" | "started";
  /** Apps of a rehearsal, and how their release commands end. */
  planned?: string[];
  releases?: Record<string, { exitCode: number; said: string; failed: string | undefined }>;
  /** Why a change is not let in. */
  forbidden?: Failure;
  reading?: Limit;
  /** Databases: the backups of a copy, when their WAL ends, what their pods tell, and where their volumes lie. */
  database?: { hasWal: boolean; backups?: string[]; walAt?: number; tells?: string; folder: string };
  /** Why nothing acts. */
  held?: () => string | undefined;
}

/** Drills of a server whose engine and target are fakes; what was done, in order. */
function world({
  apps = [app("web")],
  copied = ["web"],
  refused = {},
  damaged,
  drills = [],
  broken = {},
  names = {},
  ...room
}: World) {
  const [done, stored, clock]: [string[], Map<string, StoredDrill>, ReturnType<typeof createFakeClock>] = [
    [],
    new Map(drills.map((drill) => [drillId(drill), drill])),
    createFakeClock(now),
  ];
  const snapshots = copied.map((name, at) => {
    const [volume] = (apps.find((one) => one.name === name) ?? app(name)).volumes;
    return { id: `c${at}`, at: now - 3_600_000, tags: [volumeTag, ...(volume ? subjectTags(volume.subject) : [])] };
  });
  const parts: DrillParts = {
    ...{ clock, log: silentLog, reading: room.reading ?? createLimit(1), limits: backupLimits, apps: () => apps },
    randomBytes: (count) => new Uint8Array(count),
    onEvent: async () => undefined,
    targets: () => ["disk"],
    source: async () => ({
      ...{ names: async () => room.database?.backups ?? [], text: async () => "" },
      snapshots: async () => snapshots,
      size: async () => 1_000,
      async restore(id: string) {
        done.push(`restore ${id}`);
        if (id === damaged) throw new Failure("unavailable", "data is damaged");
      },
    }),
    folders: { space: async () => ({ disk: "1", freeBytes: room.freeBytes ?? 2 ** 40 }) } as never,
    volumesFolder: async () => "/volumes",
    freeMemory: () => room.freeMemory,
    gate: createGate({ heldBy: room.held ?? (() => undefined), clock, lookMs: 1_000 }),
    databases: () =>
      apps.flatMap(({ kind, scope, name }) => {
        const { hasWal } = room.database ?? {};
        const backups = { volume: `v-${name}`, labels: {} };
        return kind !== "statefulset" || hasWal === undefined
          ? []
          : [{ scope, name, backups, claims: [], hasWal, isFillable: true }];
      }),
    wal: {
      newest: async () => ({ snapshot: "s", at: room.database?.walAt ?? 0, until: undefined, bytes: 7, target: "wal" }),
      fetch: async ({ name }, { mountPoint }) => void done.push(`fetch ${name} into ${basename(mountPoint)}`),
    },
    drills: () => [...stored.values()],
    putDrill: async (drill) => void stored.set(drillId(drill), drill),
    removeDrill: async (drill) => void stored.delete(drillId(drill)),
    stage: {
      examine: async ({ name }) => {
        const why = refused[name];
        if (room.changed !== undefined && done.includes("open")) return { refused: room.changed };
        return why === undefined ? { memoryBytes: 1_000, replicas: 1, names: names[name] ?? [] } : { refused: why };
      },
      open: async () => void done.push("open"),
      async makeVolume(name) {
        const folder = join(room.database?.folder ?? "/volumes", name);
        if (room.database !== undefined) mkdirSync(join(folder, "restore"), { recursive: true });
        return { volume: name, folder };
      },
      async start({ key, volumes }) {
        for (const place of key.kind === "statefulset" ? volumes.values() : []) {
          const home = join(room.database?.folder ?? "", place, "restore");
          done.push(readFileSync(join(home, "wanted"), "utf8").trim());
          writeFileSync(join(home, "done"), room.database?.tells ?? "\n");
        }
        done.push(`start ${key.name} with ${[...volumes.keys()].sort().join(" ")}`);
        const fault = broken[key.name];
        return {
          isChecked: room.verdict !== "started",
          async ready() {
            if (fault !== undefined) throw new Failure("conflict", fault);
            clock.moveTo(clock.steady() + 40_000);
            const { verdict: result = "proved" } = room;
            return { result, watchedMs: result === "started" ? 30_000 : 0 };
          },
        };
      },
      release: async ({ key }) => {
        done.push(`release ${key.name}`);
        return room.releases?.[key.name];
      },
      // A client that waits for the end finds nothing of it any more.
      async clear() {
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        done.push("clear");
      },
    },
  };
  const plan = async () => {
    if (room.forbidden !== undefined) throw room.forbidden;
    const mounted = (name: string) => [{ claim: "files", ordinal: undefined, volume: `v-${name}` }];
    const apps = (room.planned ?? []).map((name) => {
      const hasRelease = room.releases?.[name] !== undefined;
      return { scope: "shop", kind: "deployment", name, volumes: mounted(name), hasRelease };
    });
    return { stage: parts.stage, apps, left: [{ ref: "ingress/shop/web", why: "no app" }] };
  };
  const trials = createTrials(parts);
  const [made, rehearsals] = [createDrills(parts, trials), createRehearsals({ ...parts, plan }, trials)];
  const result = async (name?: string) => {
    await made.begin({ scope: "shop", name }, "ann");
    await waitFor("the drill to end", () => made.list().drills.every((drill) => drill.running_since === undefined));
    return made.list().drills.map((drill) => [drill.app, drill.result, drill.why]);
  };
  const rehearse = async () => {
    await rehearsals.begin([], { actor: "ann" });
    const last = () => rehearsals.list().rehearsals[0];
    await waitFor("the rehearsal to end", async () => {
      clock.moveTo(clock.nextDue() ?? clock.steady());
      return last()?.ended_at !== undefined;
    });
    return (last()?.apps ?? []).toSorted((a, b) => Number(a.beside) - Number(b.beside));
  };
  return { made, rehearsals, done, clock, result, rehearse, stored };
}

describe("what is drilled", () => {
  test("the apps of a scope together, each with its own copy; all of it goes", async () => {
    const it = world({
      apps: [app("web"), app("api"), app("open", undefined)].map((one, at) =>
        at === 2 ? { ...one, policy: undefined } : one,
      ),
      copied: ["web", "api"],
    });
    expect(await it.result()).toEqual([
      ["shop/web", "proved", undefined],
      ["shop/api", "proved", undefined],
    ]);
    expect(it.done.map((line) => line.split(" ")[0])).toEqual([
      "open",
      "restore",
      "restore",
      "start",
      "start",
      "clear",
    ]);
    expect(it.made.list().drills[0]).toMatchObject({ recovery_point_seconds: 3_600, bytes: 1_000, target: "disk" });
    expect(it.made.failing()).toEqual([]);
  });

  test.each<[string, World, string, string]>([
    ["cannot live by itself", { refused: { web: "it is privileged" } }, "not_drilled", "it is privileged"],
    ["has no copy", { copied: [] }, "failed", "there is no copy of shop/web/files"],
    ["has a damaged copy", { damaged: "c0" }, "failed", "data is damaged"],
    ["does not fit on the disk", { freeBytes: 2 ** 30 + 999 }, "not_drilled", "of the disk can be used"],
    ["does not fit into the memory", { freeMemory: 10 }, "not_drilled", "of the memory can be used"],
  ])("an app that %s says why, and nothing of it runs", async (_, given, wanted, why) => {
    const it = world(given);
    expect(await it.result("web")).toEqual([["shop/web", wanted, expect.stringContaining(why)]]);
    expect(it.done.filter((line) => line.startsWith("start"))).toEqual([]);
    expect(it.made.failing()).toHaveLength(wanted === "failed" ? 1 : 0);
  });

  describe("a database of a block", () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "berth-drills."));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));
    const ids = ["20261128T100000Z", "20261129T110000Z"];
    const named = () => {
      const own = app("main");
      const subject = { scope: "shop", kind: "statefulset", name: "main", claim: "v-main", ordinal: undefined };
      return { ...own, kind: "statefulset", volumes: [{ subject, volume: "v-main" }] };
    };
    const it = (database: Omit<NonNullable<World["database"]>, "folder">, by: AppVolumes["policy"] | "none" = policy) =>
      world({
        apps: [{ ...named(), policy: by === "none" ? undefined : by }],
        copied: ["main"],
        database: { folder, ...database },
      });

    test.each([
      ["its newest backup", { hasWal: false, backups: ids }, "backup 20261129T110000Z", 3_600, "disk"],
      ["WAL that is newer", { hasWal: true, backups: ids, walAt: now - 60_000 }, "cluster", 60, "wal"],
      [
        "a backup that is newer than its WAL",
        { hasWal: true, backups: ids, walAt: 1 },
        `backup ${ids[1]}`,
        3_600,
        "disk",
      ],
    ])("is made from %s, by its own pod", async (_, database, word, seconds, target) => {
      const server = it(database);
      expect(await server.result("main")).toEqual([["shop/main", "proved", undefined]]);
      expect(server.done).toContain(word);
      expect(server.made.list().drills[0]).toMatchObject({ recovery_point_seconds: seconds, target });
      expect(server.done.some((line) => line.startsWith("fetch main"))).toBe(word === "cluster");
    });

    test("fails where its pod tells what is not as in the backup, and where there is no backup", async () => {
      const torn = it({ hasWal: true, walAt: now, tells: "app: indexes that are not in order\n" });
      const why = "restored, but not as in the backup: app: indexes that are not in order";
      expect(await torn.result("main")).toEqual([["shop/main", "failed", why]]);
      const none = await it({ hasWal: false }).result("main");
      expect(none).toEqual([["shop/main", "failed", "there is no backup of shop/main at a target"]]);
    });

    test("is drilled for its WAL alone", async () => {
      const server = it({ hasWal: true, walAt: now }, "none");
      expect(await server.result("main")).toEqual([["shop/main", "proved", undefined]]);
    });
  });

  test("its copies are read when nothing needs the whole repository for itself", async () => {
    const reading = createLimit(1);
    const [leave, it] = [await enter(reading), world({ reading })];
    const result = it.result();
    await waitFor("the place", () => it.done.includes("open"));
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    expect(it.done).toEqual(["open"]);
    leave();
    expect(await result).toEqual([["shop/web", "proved", undefined]]);
  });

  test("an app without the field, and one that does not exist, are refused with the way out", async () => {
    const { made } = world({ apps: [{ ...app("web"), policy: undefined }] });
    expect(made.begin({ scope: "shop", name: "web" }, "ann")).rejects.toThrow("add `backup: {}`");
    expect(made.begin({ scope: "shop", name: "no" }, "ann")).rejects.toThrow("no app of shop/no is copied");
    expect(made.begin({ name: "web" }, "ann")).rejects.toThrow();
  });

  test("a check of the app's own is what proves; without one it has started, which is no failure", async () => {
    const it = world({ verdict: "started" });
    expect(await it.result()).toEqual([["shop/web", "started", undefined]]);
    expect(it.made.of(app("web"))).toMatchObject({ result: "started", recovery_point_seconds: 3_600 });
    // For 30 of its 40 seconds it was only watched.
    expect(it.made.of(app("web"))).toMatchObject({ recovery_seconds: 10 });
    expect(it.made.failing()).toEqual([]);
  });

  test("an app that may need one which no drill starts is not drilled; with that one beside it, it fails", async () => {
    const given = { broken: { web: "exit code 1" }, names: { web: ["shop/db"] } };
    const alone = world(given);
    const why = "it may need shop/db, which is not part of the drill; exit code 1";
    expect(await alone.result()).toEqual([["shop/web", "not_drilled", why]]);
    expect(alone.made.failing()).toEqual([]);
    const both = world({ ...given, apps: [app("web"), app("db")], copied: ["web", "db"] });
    expect(await both.result()).toContainEqual(["shop/web", "failed", "exit code 1"]);
    expect(both.made.failing()).toMatchObject([{ what: "drill shop/web", error: "exit code 1" }]);
  });

  test("an app that was changed or deleted meanwhile is not drilled", async () => {
    const it = world({ broken: { web: "it mounts a folder" }, changed: "it uses network_mode host" });
    expect(await it.result()).toEqual([["shop/web", "not_drilled", "it uses network_mode host"]]);
  });

  test("after a kill the next start removes what is left before all else, also while it waits, and drills again once due", async () => {
    let held: string | undefined = "another server acts";
    const cut = { scope: "shop", kind: "deployment", name: "web", since: now - 30 * 86_400_000, runningSince: now - 1 };
    const nothing = { last: undefined, lastSuccessAt: undefined, failingSince: undefined };
    const it = world({ drills: [{ ...cut, ...nothing }], held: () => held });
    const stop = new AbortController();
    const running = it.made.run(stop.signal);
    await waitFor("what is left to go", () => it.done.includes("clear"));
    expect([it.done, it.made.of(app("web"))?.running_since]).toEqual([["clear"], undefined]);
    held = undefined;
    await waitFor("the drill", async () => {
      it.clock.moveTo(it.clock.nextDue() ?? now);
      return it.made.of(app("web"))?.result === "proved";
    });
    stop.abort();
    await running;
    expect(it.done[1]).toBe("open");
    expect(it.done.at(-1)).toBe("clear");
  });

  test("what a clock ahead of now has dated does not put the next drill off for years", async () => {
    const it = world({});
    await it.result();
    it.clock.jump(-400 * 86_400_000);
    expect(Date.parse(it.made.of(app("web"))?.next_at ?? "")).toBe(it.clock.now());
  });

  test("an alert is due two weeks after the last good one, unless the app cannot be drilled", () => {
    const drill = { scope: "shop", kind: "deployment", name: "web", since: now - 15 * 86_400_000 };
    const nothing = { runningSince: undefined, last: undefined, lastSuccessAt: undefined, failingSince: undefined };
    expect(world({ drills: [{ ...drill, ...nothing }] }).made.failing()).toMatchObject([{ what: "drill shop/web" }]);
    const good = { ...drill, ...nothing, lastSuccessAt: now - 86_400_000 };
    expect(world({ drills: [good] }).made.failing()).toEqual([]);
  });
});

describe("a rehearsal", () => {
  const passed = { exitCode: 0, said: "done", failed: undefined };
  const both = { apps: [app("web"), app("db")], copied: ["web", "db"] };

  test("the apps of the files on copies, beside those of their scope, which are ready before a release command", async () => {
    const it = world({ ...both, planned: ["web"], releases: { web: passed } });
    expect(await it.rehearse()).toMatchObject([
      { app: "shop/web", beside: false, result: "passed", data_age_seconds: 3_600, release: { exit_code: 0 } },
      { app: "shop/db", beside: true, result: "passed" },
    ]);
    const steps = it.done.map((line) => line.split(" with ")[0]?.replace(/ c\d/, ""));
    expect(steps).toEqual(["open", "restore", "restore", "start db", "release web", "start web", "clear"]);
    // Nothing of it is a drill.
    expect([...it.stored.values()]).toEqual([]);
    expect(it.rehearsals.list().rehearsals[0]).toMatchObject({ actor: "ann", left_out: [{ ref: "ingress/shop/web" }] });
  });

  const broke = { exitCode: 3, said: "no column", failed: "its release command ended with exit code 3" };
  test.each<[string, World, object]>([
    [
      "whose release command fails",
      { releases: { web: broke } },
      { result: "failed", why: broke.failed, release: { exit_code: 3, output: "no column" } },
    ],
    ["that does not start", { broken: { web: "exit code 1" } }, { result: "failed", why: "exit code 1" }],
    ["without a check", { verdict: "started" }, { result: "started" }],
    [
      "that cannot live by itself",
      { refused: { web: "it is privileged" } },
      { result: "not_rehearsed", why: "it is privileged" },
    ],
    [
      "with a damaged copy",
      { damaged: "c0" },
      { result: "not_rehearsed", why: "its copy does not come back: data is damaged" },
    ],
    ["without a copy", { copied: [] }, { result: "passed", empty: ["shop/web/files"] }],
    [
      "that does not fit",
      { freeMemory: 10 },
      { result: "not_rehearsed", why: expect.stringContaining("of the memory") },
    ],
    [
      "that may need another",
      { broken: { web: "exit code 1" }, names: { web: ["shop/db"] } },
      { result: "not_rehearsed", why: "it may need shop/db, which is not part of the rehearsal; exit code 1" },
    ],
  ])("an app %s says so", async (_, given, wanted) => {
    const it = world({ planned: ["web"], ...given });
    expect(await it.rehearse()).toMatchObject([{ app: "shop/web", ...wanted }]);
    if (given.releases !== undefined) expect(it.done.some((line) => line.startsWith("start"))).toBe(false);
  });

  test("one thing at a time, also with drills; what is refused leaves nothing under way", async () => {
    const it = world({ planned: ["web"] });
    await it.rehearsals.begin([], { actor: "ann" });
    await expect(it.rehearsals.begin([], { actor: "bob" })).rejects.toThrow("a rehearsal is under way");
    await expect(it.made.begin({ scope: "shop" }, "bob")).rejects.toThrow("a rehearsal is under way");
    await waitFor("the end", () => it.rehearsals.list().rehearsals[0]?.ended_at !== undefined);
    await it.made.begin({ scope: "shop" }, "bob");
    await expect(it.rehearsals.begin([], { actor: "ann" })).rejects.toThrow("a drill of shop/web is under way");
    const no = world({ planned: ["web"], forbidden: new Failure("forbidden", "no") });
    for (const _ of [1, 2]) await expect(no.rehearse()).rejects.toThrow("no");
    expect(no.done).toEqual([]);
    await expect(world({ planned: [] }).rehearse()).rejects.toThrow("there is nothing to rehearse in it");
  });
});
