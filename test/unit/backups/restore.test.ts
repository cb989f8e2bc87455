import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RestoreBody } from "../../../src/backups/api/restore.ts";
import type { RestoreParts, StoredRestore } from "../../../src/backups/service/restore-parts.ts";
import { createRestores } from "../../../src/backups/service/restore.ts";
import { folders } from "../../../src/backups/restic/folders.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { systemClock } from "../../../src/base/words/clock.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { noDumps } from "../../support/backup-parts.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { isRoot } from "../../support/is-root.ts";
import { silentLog } from "../../support/silent-log.ts";
import { waitFor } from "../../support/wait.ts";

const at = Date.parse("2026-11-28T14:05:00Z");
const tags = ["volume", "scope=shop", "kind=statefulset", "name=db", "claim=data"];

/** Restores of folders on disk, and kills after each thing that they do. */
describe("restores", () => {
  let home: string;
  let records: Map<string, string>;
  let made: Map<string, string>;
  let held: Map<string, number>;
  /** What the server has done, in order. */
  let done: string[];
  /** The server dies before it does more than this. */
  let lives: number;
  let died: PromiseWithResolvers<void>;
  let freeBytes: number;
  let turns: Promise<void>[];
  let drills: { target: string; bytes: number; ms: number }[];
  /** Somebody does this while a copy is fetched. */
  let meanwhile: () => void;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "restores."));
    [records, made, held, done, lives, freeBytes] = [new Map(), new Map(), new Map(), [], Infinity, 1e12];
    [turns, died, meanwhile, drills] = [[], Promise.withResolvers(), () => undefined, []];
    mkdirSync(join(home, "copy/etc"), { recursive: true });
    writeFileSync(join(home, "copy/a"), "good");
    writeFileSync(join(home, "copy/etc/conf"), "good");
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const live = (name = "v") => join(home, "volumes", name, "_data");
  function makeVolume(name = "v", text?: string): void {
    mkdirSync(join(live(name), "etc"), { recursive: true });
    if (text !== undefined) for (const path of ["a", "etc/conf"]) writeFileSync(join(live(name), path), text);
    made.set(name, live(name));
  }
  const contentOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

  /** Each call is one step of the server; a server that has died does nothing more, and does not say so. */
  function mortal<T extends object>(of: T, what: string): T {
    return new Proxy(of, {
      get(target, name) {
        const call = target[name as keyof T];
        if (typeof call !== "function") return call;
        return (...args: unknown[]) => {
          const isSync = ["restores", "drills", "list", "databases", "named", "hold"].includes(String(name));
          if (!isSync && done.length >= lives) {
            died.resolve();
            return new Promise(() => undefined);
          }
          if (!isSync) done.push(`${what}.${String(name)}`);
          return call.apply(target, args);
        };
      },
    });
  }

  function parts(): RestoreParts {
    const subject = { scope: "shop", kind: "statefulset", name: "db", claim: "data", ordinal: 0 };
    return {
      records: mortal(
        {
          restores: () => [...records.values()].map((text) => JSON.parse(text) as StoredRestore),
          putRestore: async (one: StoredRestore) => void records.set(one.id, JSON.stringify(one)),
          removeRestore: async (id: string) => void records.delete(id),
          drills: () => drills,
        },
        "records",
      ),
      targets: () => ["disk"],
      source: async () => ({
        names: async () => readdirSync(join(home, "copy")),
        text: async (_: string, path: string) => contentOf(join(home, "copy", path)) ?? "",
        snapshots: async () => [{ id: "aabbccdd", at, tags: [...tags, "ordinal=0", "root=750.0.0"] }],
        size: async () => 1_000,
        ...mortal(
          {
            async restore(
              _: string,
              folder: string,
              __: AbortSignal,
              path?: string,
              onBytes?: (bytes: number) => void,
            ) {
              onBytes?.(400);
              cpSync(join(home, "copy"), folder, { recursive: true });
              if (path !== undefined) rmSync(join(folder, "a"));
              meanwhile();
            },
          },
          "source",
        ),
      }),
      volumes: mortal(
        {
          databases: () => [],
          list: () => [{ ...subject, volume: "v", labels: {} }],
          find: async (name: string) => (made.has(name) ? { mountpoint: made.get(name) } : undefined),
          folder: async () => join(home, "volumes"),
          make: async (name: string) => makeVolume(name),
          async remove(name: string) {
            made.delete(name);
            rmSync(join(home, "volumes", name), { recursive: true, force: true });
          },
          named: (_: string, name: string) => ({ volume: name, labels: {} }),
          hold(name: string) {
            held.set(name, (held.get(name) ?? 0) + 1);
            return () => void held.set(name, (held.get(name) ?? 0) - 1);
          },
          stopUsers: async () => undefined,
        },
        "volumes",
      ),
      wal: { newest: async () => undefined, fetch: async () => undefined },
      dumps: noDumps,
      folders: mortal({ ...folders, space: async () => ({ disk: "1", freeBytes }) }, "folders"),
      turn: (work) => {
        const turn = work();
        turns.push(turn.then(() => undefined));
        return turn;
      },
      clock: createFakeClock(at + 1_000),
      log: silentLog,
      limits: backupLimits,
      randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
      isOurs: async (folder) => folder.startsWith("/opt/berth"),
      onEvent: async () => undefined,
    };
  }

  async function begin(body: RestoreBody): Promise<void> {
    await createRestores(parts()).begin(body, "ann");
    await Promise.all(turns);
  }

  /** The next start of a server that was killed, up to the end of what it left. */
  async function startAgain(of: () => RestoreParts = parts) {
    [lives, held] = [Infinity, new Map()];
    const restores = createRestores(of());
    const stopping = new AbortController();
    const running = restores.run(stopping.signal);
    await waitFor("the end of what was left", async () =>
      restores.list(undefined).restores.every(({ state }) => ["done", "failed", "undone"].includes(state)),
    );
    stopping.abort();
    await running;
    expect([...held.values()].filter((count) => count !== 0)).toEqual([]);
    return restores;
  }

  const ways: [string, RestoreBody, boolean][] = [
    ["in place", { scope: "shop", name: "db", way: "in_place" }, true],
    ["one file in place", { scope: "shop", name: "db", way: "in_place", path: "etc/conf" }, true],
    ["missing", {}, false],
    ["beside", { scope: "shop", name: "db", way: "beside" }, true],
    ["into a folder", { scope: "shop", name: "db", way: "into", into: "HOME/found" }, true],
  ];

  test.if(isRoot).each(ways)(
    "%s: a kill after each step leaves the old data or the new",
    async (way, body, isThere) => {
      const wanted = { ...body, into: body.into?.replace("HOME", home) };
      const placeOf = () => {
        if (way === "into a folder") return join(home, "found");
        return way === "beside" ? live("data-0-of-20261128t140500") : live();
      };
      const ends = new Set<string>();
      for (let steps = 0; steps < 60; steps++) {
        for (const name of readdirSync(home)) if (name !== "copy") rmSync(join(home, name), { recursive: true });
        [records, made, done, turns] = [new Map(), new Map(), [], []];
        if (isThere) makeVolume("v", "old");
        [lives, died] = [steps, Promise.withResolvers()];
        await Promise.race([begin(wanted), died.promise]);
        const isWhole = done.length < steps;
        const restores = await startAgain();
        const [row] = restores.list(undefined).restores;
        ends.add(row?.state ?? "none");
        const [first, second] = [contentOf(join(placeOf(), "a")), contentOf(join(placeOf(), "etc/conf"))];
        const before = isThere && placeOf() === live() ? "old" : undefined;
        const isNew = row?.state === "done";
        expect([steps, row?.state, second]).toEqual([steps, row?.state, isNew ? "good" : before]);
        if (way !== "one file in place") expect([steps, first]).toEqual([steps, isNew ? "good" : before]);
        if (isThere && way !== "in place" && way !== "one file in place")
          expect(contentOf(join(live(), "a"))).toBe("old");
        // Nothing is left beside: only what a restore in place has replaced.
        const beside = made.size === 0 ? [] : readdirSync(join(live(), "..")).filter((name) => name !== "_data");
        expect([steps, beside.length]).toEqual([steps, isNew && body.way === "in_place" ? 1 : 0]);
        expect(readdirSync(home).filter((name) => name.includes("berth-restore"))).toEqual([]);
        if (isNew && body.way === "in_place") {
          await restores.undo({ scope: "shop", name: "db" }, "ann");
          await waitFor("the undo", async () => restores.list(undefined).restores[0]?.state === "undone");
          expect(contentOf(join(live(), "etc/conf"))).toBe("old");
        }
        if (isWhole) break;
      }
      expect([...ends].sort()).toEqual(["done", "failed", "none"]);
    },
  );

  test.if(isRoot)("a kill in each step of an undo ends it at the next start", async () => {
    for (let steps = 0; steps < 30; steps++) {
      rmSync(join(home, "volumes"), { recursive: true, force: true });
      [records, made, done, turns, lives] = [new Map(), new Map(), [], [], Infinity];
      makeVolume("v", "old");
      await begin({ scope: "shop", name: "db", way: "in_place" });
      [lives, died] = [done.length + steps, Promise.withResolvers()];
      const restores = createRestores(parts());
      const undone = async () => {
        await restores.undo({ scope: "shop", name: "db" }, "ann");
        await waitFor("the undo", async () => restores.list(undefined).restores[0]?.state === "undone");
      };
      await Promise.race([undone(), died.promise]);
      const isWhole = done.length < lives;
      const [row] = (await startAgain()).list(undefined).restores;
      expect([steps, row?.state, contentOf(join(live(), "a"))]).toEqual(
        row?.state === "done" ? [steps, "done", "good"] : [steps, "undone", "old"],
      );
      if (isWhole) return expect(row?.state).toBe("undone");
    }
  });

  test.if(isRoot)("an undo leaves a volume as it is that was removed and made again since", async () => {
    makeVolume("v", "old");
    await begin({ scope: "shop", name: "db", way: "in_place" });
    rmSync(join(home, "volumes/v"), { recursive: true });
    makeVolume("v", "newer");
    const restores = createRestores(parts());
    const undone = restores.undo({ scope: "shop", name: "db" }, "ann");
    expect(undone).rejects.toThrow("is gone; the data stays as it is");
    await undone.catch(() => undefined);
    expect(contentOf(join(live(), "a"))).toBe("newer");

    // Removed while an undo, or the exchange of a restore, was under way.
    for (const state of ["undoing", "placing"] as const) {
      const [row] = [...records.values()].map((text) => JSON.parse(text) as StoredRestore);
      if (row !== undefined) records.set(row.id, JSON.stringify({ ...row, state }));
      const [ended] = (await startAgain()).list(undefined).restores;
      expect([state, ended?.error, contentOf(join(live(), "a"))]).toEqual([state, expect.any(String), "newer"]);
    }
  });

  /** The block shop/pg: its pods are gone with their volumes, and a copy holds two backups, of which the newer one failed its check. */
  function ofBlock(wal: Partial<RestoreParts["wal"]> = {}): RestoreParts {
    const given = parts();
    const named = { ...{ scope: "shop", kind: "statefulset", name: "pg" }, labels: {} };
    const backups = { ...named, claim: "pg-backups", ordinal: undefined, volume: "pg-backups" };
    const claims = [0, 1].map((ordinal) => ({ ...named, claim: "data", ordinal, volume: `pg-${ordinal}` }));
    const block = { scope: "shop", name: "pg", backups, claims, isFillable: true };
    const copy = {
      id: "ddccbbaa",
      at,
      tags: ["volume", "scope=shop", "kind=statefulset", "name=pg", "claim=pg-backups"],
    };
    for (const [id, check] of Object.entries({ "20261128T100000Z": "passed 1 ", "20261128T110000Z": "failed 1 " })) {
      mkdirSync(join(home, "copy", id), { recursive: true });
      writeFileSync(join(home, "copy", id, ".check"), check);
    }
    const { source } = given;
    return {
      ...given,
      clock: systemClock,
      limits: { ...backupLimits, fillLookMs: 1, lookMs: 1 },
      wal: { ...given.wal, ...wal },
      source: async (target) => ({ ...(await source(target)), snapshots: async () => [copy] }),
      volumes: new Proxy(given.volumes, {
        get: (target, name) =>
          ({ databases: () => [block], list: () => [backups, ...claims] })[String(name)] ?? target[name as "find"],
      }),
    };
  }

  const wordOf = (name: string) => contentOf(join(live("pg-backups"), "restore", name));
  /** A pod of the block: it fills an empty volume as it is told to, and makes an empty database where it is told nothing. */
  async function podsOf(end: AbortSignal, fails = false): Promise<void> {
    while (!end.aborted) {
      const isHeld = (held.get("pg-0") ?? 0) > 0;
      const isTold = wordOf("failed") === undefined;
      if (made.has("pg-0") && !isHeld && isTold && contentOf(join(live("pg-0"), "a")) === undefined) {
        const wanted = wordOf("wanted");
        if (wanted === undefined || !fails) writeFileSync(join(live("pg-0"), "a"), wanted ?? "empty");
        if (wanted !== undefined) {
          const home = join(live("pg-backups"), "restore");
          writeFileSync(join(home, fails ? "failed" : "done"), fails ? "the dump is bad\n" : "\n");
          if (!fails) rmSync(join(home, "wanted"));
        }
      }
      await Bun.sleep(1);
    }
  }

  test.if(isRoot)(
    "a database: a kill after each step ends with the data of the backup, and never with an empty one",
    async () => {
      for (let steps = 0; steps < 150; steps++) {
        for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true });
        [records, made, done, turns, held] = [new Map(), new Map(), [], [], new Map()];
        [lives, died] = [steps, Promise.withResolvers()];
        const pods = new AbortController();
        const running = podsOf(pods.signal);
        const filled = async () => {
          const restores = createRestores(ofBlock());
          await restores.begin({}, "ann");
          await waitFor("the end", async () =>
            restores.list(undefined).restores.every(({ ended_at: end }) => end !== undefined),
          );
        };
        await Promise.race([filled(), died.promise]);
        const isWhole = done.length < steps;
        const restores = await startAgain(ofBlock);
        pods.abort();
        await running;
        const rows = Object.fromEntries(restores.list(undefined).restores.map(({ what, state }) => [what, state]));
        // Where the volume of the backups was not there yet, the database waits as before.
        const isThere = rows["shop/pg/pg-backups"] === "done" && rows["shop/pg/data"] === "done";
        expect([steps, made.has("pg-0"), contentOf(join(live("pg-0"), "a"))]).toEqual(
          isThere ? [steps, true, "backup 20261128T100000Z\n"] : [steps, false, undefined],
        );
        expect([steps, made.has("pg-1"), wordOf("wanted")]).toEqual([steps, isThere, undefined]);
        if (!isWhole) continue;
        return expect(rows).toEqual({ "shop/pg/pg-backups": "done", "shop/pg/data": "done" });
      }
      throw new Error("the restore has too many steps");
    },
  );

  test.if(isRoot)("a database that cannot be filled stays empty until another backup or WAL fills it", async () => {
    const pods = new AbortController();
    const failing = podsOf(pods.signal, true);
    const restores = createRestores(ofBlock());
    const ended = () =>
      waitFor("the end", async () => restores.list(undefined).restores.every(({ ended_at: end }) => end !== undefined));
    await restores.begin({ scope: "shop", name: "pg" }, "ann");
    await ended();
    const [row] = restores.list(undefined).restores.filter(({ fill }) => fill !== undefined);
    expect(row).toMatchObject({ state: "failed", error: "the dump is bad", fill: "20261128T100000Z" });
    pods.abort();
    await failing;
    expect(contentOf(join(live("pg-0"), "a"))).toBeUndefined();

    const newest = {
      target: "disk",
      snapshot: "20261128T120000Z",
      at: Date.parse("2026-11-28T12:00:00Z"),
      until: undefined,
      bytes: 1,
    };
    const after = new AbortController();
    const good = podsOf(after.signal);
    const again = createRestores(ofBlock({ newest: async () => newest }));
    expect(await again.plan({})).toMatchObject({
      volumes: [{ what: "shop/pg/data", fill: "WAL", at: "2026-11-28T12:00:00.000Z" }],
    });
    await again.begin({}, "ann");
    await waitFor("the end", async () =>
      again.list(undefined).restores.every(({ ended_at: end }) => end !== undefined),
    );
    after.abort();
    await good;
    expect(contentOf(join(live("pg-0"), "a"))).toBe("cluster\n");
    expect([...held.values()].filter((count) => count !== 0)).toEqual([]);
  });

  test("WAL that is out of reach is said, and a block of an older berth is applied again first", async () => {
    const unreachable = createRestores(
      ofBlock({ newest: () => Promise.reject(new Failure("unavailable", "no rclone")) }),
    );
    expect((await unreachable.plan({})).unreachable).toEqual([{ target: "WAL of shop/pg", why: "no rclone" }]);
    const given = ofBlock();
    const [block] = given.volumes.databases();
    const volumes = {
      ...given.volumes,
      find: given.volumes.find,
      list: given.volumes.list,
      folder: given.volumes.folder,
    };
    const old = createRestores({
      ...given,
      volumes: { ...volumes, databases: () => (block ? [{ ...block, isFillable: false }] : []) },
    });
    expect(old.plan({})).rejects.toThrow("apply its block again (berth apply -f FILE)");
  });

  test("the plan for the backups of a database says that the database stays as it is", async () => {
    made.set("pg-backups", live("pg-backups"));
    const { volumes } = await createRestores(ofBlock()).plan({ scope: "shop", name: "pg", way: "in_place" });
    expect(volumes.map(({ note }) => note)).toEqual([expect.stringContaining("the database stays as it is")]);
  });

  test("the plan names volumes that are missing and that no target has a copy of", async () => {
    const given = parts();
    const cache = { scope: "shop", kind: "deployment", name: "web", claim: "cache", ordinal: undefined };
    const list = () => [...given.volumes.list(), { ...cache, volume: "cache", labels: {} }];
    const plan = (body: RestoreBody) => createRestores({ ...given, volumes: { ...given.volumes, list } }).plan(body);
    expect(await plan({})).toMatchObject({ volumes: [{ what: "shop/db/data/0" }], uncopied: ["shop/web/cache"] });
    expect((await plan({ scope: "shop", name: "db" })).uncopied).toEqual([]);
    // With a time, one that was copied only later is not silently left out.
    const later = ["volume", "scope=shop", "kind=deployment", "name=web", "claim=cache"];
    const source = await given.source("disk");
    const rows = [...(await source.snapshots()), { id: "eeff", at: at + 60_000, tags: later }];
    const copies = { ...given, source: async () => ({ ...source, snapshots: async () => rows }) };
    const both = createRestores({ ...copies, volumes: { ...given.volumes, list } });
    expect((await both.plan({ at: new Date(at).toISOString() })).uncopied).toEqual(["shop/web/cache"]);
    expect((await both.plan({})).uncopied).toEqual([]);
  });

  test("the plan says how long it takes, as drills and restores took", async () => {
    const plan = async () => (await createRestores(parts()).plan({ scope: "shop", name: "db", way: "beside" })).seconds;
    expect(await plan()).toBeUndefined();
    drills = [{ target: "disk", bytes: 900, ms: 4_200 }];
    expect(await plan()).toBe(5);
    const row = { id: "a", target: "disk", bytes: 2_000, state: "done", startedAt: 1, endedAt: 9_001, way: "beside" };
    records.set("a", JSON.stringify(row));
    expect(await plan()).toBe(9);
  });

  test("the owner and the mode of the volume's folder are those of the copy", async () => {
    if (!isRoot) return;
    makeVolume("v", "old");
    await begin({ scope: "shop", name: "db", way: "in_place" });
    const { mode } = await import("node:fs").then(({ statSync }) => statSync(live()));
    expect(mode & 0o777).toBe(0o750);
  });

  test("the list says how many bytes are there while a copy is fetched", async () => {
    let seen: unknown[] = [];
    const restores = createRestores(parts());
    const shown = () => restores.list(undefined).restores.map(({ state, bytes_fetched: there }) => [state, there]);
    meanwhile = () => {
      seen = shown();
    };
    await restores.begin({ scope: "shop", name: "db", way: "into", into: join(home, "found") }, "ann");
    await Promise.all(turns);
    meanwhile = () => undefined;
    expect([seen, shown()]).toEqual([[["fetching", 400]], [["done", undefined]]]);
  });

  test("what came into the folder while the copy was fetched stays", async () => {
    const into = join(home, "found");
    meanwhile = () => {
      mkdirSync(into);
      writeFileSync(join(into, "a"), "of somebody else");
    };
    await begin({ scope: "shop", name: "db", way: "into", into });
    const restores = createRestores(parts());
    const [row] = restores.list(undefined).restores;
    const alert = {
      target: "disk",
      what: "restore shop/db/data/0",
      sinceAt: expect.any(Number),
      error: expect.stringContaining("longer empty"),
    };
    expect(restores.failing()).toEqual([alert]);
    expect([row?.state, row?.error]).toEqual([
      "failed",
      `"${into}" is no longer empty; what is there stays: name a new folder`,
    ]);
    expect(contentOf(join(into, "a"))).toBe("of somebody else");
    expect(readdirSync(home).filter((name) => name.includes("berth-restore"))).toEqual([]);
    // The next one that succeeds ends the alert.
    meanwhile = () => undefined;
    rmSync(into, { recursive: true });
    turns = [];
    await begin({ scope: "shop", name: "db", way: "into", into });
    expect(restores.failing()).toEqual([]);
  });

  test("a server without any copies of volumes lacks nothing, unless a volume is missing", async () => {
    const given = parts();
    const source = await given.source("disk");
    const bare = createRestores({ ...given, source: async () => ({ ...source, snapshots: async () => [] }) });
    const why = (body: RestoreBody) => bare.plan(body).catch((error: Failure) => [error.reason, error.message]);
    expect(await why({})).toEqual([
      undefined,
      expect.stringContaining("no target has a copy of what is missing (shop/db"),
    ]);
    expect(await why({ scope: "shop" })).toEqual([undefined, expect.stringContaining("no copy of a volume of shop")]);
    makeVolume("v", "old");
    expect(await why({})).toEqual(["NothingMissing", expect.stringContaining("no volume is missing; add --in-place")]);
  });

  const refusals: [string, RestoreBody, string][] = [
    ["another app", { scope: "shop", name: "web" }, "no copy of a volume of shop/web: there are copies of shop/db"],
    ["an old time", { at: "2020-01-01T00:00:00Z" }, "no copy of 2020-01-01T00:00:00Z or before: they are of"],
    ["a time without zone", { at: "2026-11-28 14:05" }, "is not a time with its zone"],
    [
      "a path out of the volume",
      { scope: "shop", name: "db", way: "in_place", path: "a/../../x" },
      "not a file or folder",
    ],
    ["a relative folder", { scope: "shop", name: "db", way: "into", into: "found" }, "not the full path of a folder"],
    ["a folder of the server's own", { scope: "shop", way: "into", into: "/opt/berth/x" }, "server's own folder"],
    ["a volume that is there", { scope: "shop", name: "db" }, "no volume is missing"],
    ["an unknown target", { from: "nas" }, 'no target "nas"'],
    ["an odd id", { snapshot: "--help" }, "is not an id"],
    ["another id", { scope: "shop", name: "db", snapshot: "ffff" }, "no copy with the id ffff"],
  ];
  test.each(refusals)("%s is refused with its reason", async (_, body, text) => {
    makeVolume("v", "old");
    const refused = await createRestores(parts())
      .plan(body)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Failure);
    expect((refused as Failure).message).toContain(text);
  });

  test("a disk without room is said before anything is written", async () => {
    makeVolume("v", "old");
    freeBytes = 1_000;
    const body = { scope: "shop", name: "db", way: "in_place" } as const;
    const refused = createRestores(parts()).begin(body, "ann");
    expect(refused).rejects.toThrow("add --into with a folder on another disk; nothing was changed");
    await refused.catch(() => undefined);
    expect(records.size).toBe(0);
  });
});
