import { expect, test } from "bun:test";
import type { BackupRun } from "../../../../src/backups/api/backups.ts";
import { haveEnded } from "../../../../src/backups/api/protection.ts";
import type { PlannedRestore } from "../../../../src/backups/api/restore.ts";
import {
  copiedApps,
  copyPoints,
  outcomeText,
  planNotes,
  pointBytes,
  restoreBody,
  restoreLine,
  restoreTime,
  undoable,
  volumesText,
} from "../../../../src/ui/text/restores.ts";
import { backedUpApps, restoreFixture } from "../../../support/ui/backup-fixtures.ts";

const copy = (
  at: string,
  claim: string,
  { target = "disk", name = "files", ordinal = undefined as number | undefined } = {},
) => ({
  ...{ target, id: `${claim}-${at}`, at: `2026-11-${at}:00.000Z`, what: `shop/${name}/${claim}` },
  volume: { scope: "shop", kind: "statefulset", name, claim, ordinal },
});
const files = { scope: "shop", name: "files" };

test("apps with copies: those that are gone come last, and the state of the server is none", () => {
  const state = { target: "disk", id: "s", at: "2026-11-28T01:00:00Z", what: "state" };
  const snapshots = [
    copy("27T01:00", "media", { name: "old" }),
    copy("27T01:00", "thumbs"),
    copy("26T01:00", "media"),
    copy("26T01:00", "data", { name: "db", ordinal: 0 }),
    state,
  ];
  expect(copiedApps(snapshots, backedUpApps)).toEqual([
    { scope: "shop", name: "db", isGone: false, volumes: ["data/0"] },
    { scope: "shop", name: "files", isGone: false, volumes: ["media", "thumbs"] },
    { scope: "shop", name: "old", isGone: true, volumes: ["media"] },
  ]);
});

test("volumes that were copied together are one choice, newest first, each target for itself", () => {
  const snapshots = [
    copy("27T01:00", "media"),
    copy("27T01:20", "thumbs"),
    copy("28T01:00", "media"),
    copy("28T01:00", "media", { target: "far" }),
    copy("28T02:30", "thumbs"),
    copy("28T02:31", "thumbs"),
    copy("28T03:00", "media", { name: "old" }),
  ];
  const runs: BackupRun[] = [
    { target: "disk", what: "shop/files/media", started_at: "", snapshot: "media-27T01:00", bytes: 7 },
    { target: "disk", what: "shop/files/thumbs", started_at: "", snapshot: "thumbs-27", bytes: 2 },
    { target: "far", what: "shop/files/media", started_at: "", snapshot: "thumbs-28", bytes: 9 },
  ];
  const points = copyPoints({ snapshots: snapshots.toReversed(), runs }, files);
  const texts = points.map(
    (point) => `${point.at.slice(8, 16)} ${point.target} ${volumesText(point)} ${pointBytes(point)}`,
  );
  expect(texts).toEqual([
    "28T02:31 disk thumbs undefined",
    "28T02:30 disk thumbs undefined",
    "28T01:00 disk media undefined",
    "28T01:00 far media undefined",
    "27T01:20 disk 2 volumes 9",
  ]);
  expect(copyPoints({ snapshots, runs }, files, "media").map(({ at }) => at.slice(8, 10))).toEqual(["28", "28", "27"]);
});

test("of one volume that copy is restored, of several the newest of each at its time; the command does the same", () => {
  const one = {
    at: "2026-11-27T01:00:00.000Z",
    target: "disk",
    copies: [{ volume: "media", id: "0123456789abcdef", bytes: 7 }],
  };
  const app = { ...files, isGone: false, volumes: ["media"] };
  const only = restoreBody({ app, volume: undefined, point: one }, "in_place");
  expect(only).toEqual({ ...files, from: "disk", way: "in_place", snapshot: "0123456789abcdef" });
  expect(restoreLine(only)).toBe("berth backup restore shop/files --snapshot 01234567 --from disk --in-place");
  const two = { ...app, volumes: ["media", "thumbs"] };
  const all = restoreBody({ app: two, volume: undefined, point: one }, "beside");
  expect(all).toEqual({ ...files, from: "disk", way: "beside", at: one.at });
  expect(restoreLine(all)).toBe("berth backup restore shop/files --at 2026-11-27T01:00:00.000Z --from disk --beside");
  const named = restoreBody({ app: two, volume: "media", point: one }, "in_place");
  expect(restoreLine(named)).toContain("shop/files --volume media --snapshot 01234567 --from disk");
  const part = restoreBody({ app, volume: undefined, point: one, path: " etc/my app.conf " }, "in_place");
  expect(restoreLine(part)).toEndWith("--from disk --path 'etc/my app.conf' --in-place");
  expect(restoreLine({})).toBe("berth backup restore --all");
  expect(restoreBody({ app, volume: undefined, point: one, path: " " }, "in_place")).toEqual(only);
});

const planned: PlannedRestore = {
  ...{ what: "shop/files/media", way: "in_place", volume: "v", target: "disk", snapshot: "a" },
  ...{ at: "2026-11-27T01:00:00.000Z", bytes: 100, replaces: true },
};

test("a plan says which copies lie apart, what has none, and which target did not answer", () => {
  const plan = { volumes: [planned], at: planned.at, unreachable: [] };
  expect(planNotes(plan)).toEqual([]);
  const dumps = { ...planned, what: "data/main/pg-data-main-backups" };
  expect(planNotes({ ...plan, volumes: [dumps] })[0]).toContain("on the page of the database");
  const notes = planNotes({
    ...plan,
    volumes: [planned, { ...planned, at: "2026-11-28T02:00:00.000Z" }],
    uncopied: ["shop/files/cache"],
    unreachable: [{ target: "far", why: "no route to host" }],
  });
  expect(notes).toHaveLength(3);
  expect(notes[0]).toContain("1 d 1 h apart");
  expect(notes[1]).toContain("shop/files/cache is missing");
  expect(notes[2]).toContain("no route to host");
});

test("how long it takes is said where it is known", () => {
  expect(restoreTime({ seconds: 60 })).toContain("about 1 min");
  expect(restoreTime({})).toContain("is not known");
});

test("how it goes and how it ended is a sentence for each state, and says when it is over", () => {
  const states = ["waiting", "fetching", "placing", "undoing", "undone", "done", "failed"] as const;
  const texts = states.map((state) => outcomeText({ ...restoreFixture, state }));
  expect(new Set(texts).size).toBe(states.length - 1);
  expect(outcomeText({ ...restoreFixture, state: "fetching", bytes: 4_000, bytes_fetched: 1_000 })).toEndWith(
    ", 1000 B of 3.9 KiB so far",
  );
  expect(outcomeText({ ...restoreFixture, error: "no space" })).toBe("shop/db/data/0: no space");
  expect(outcomeText({ ...restoreFixture, path: "etc/a" })).toStartWith("etc/a of shop/db/data/0 has the data");
  expect(outcomeText({ ...restoreFixture, way: "beside", mount: "data-0-of-x" })).toContain("mount it as data-0-of-x");
  expect(haveEnded([restoreFixture])).toBe(true);
  expect(haveEnded([restoreFixture, { ...restoreFixture, ended_at: undefined }])).toBe(false);
  expect(haveEnded([{ ...restoreFixture, state: "undoing" }])).toBe(false);
});

test("the newest restore in place of a volume can be undone while what it replaced is kept", () => {
  expect(undoable(restoreFixture, [restoreFixture])).toEqual({ scope: "shop", name: "db", volume: "data/0" });
  expect(undoable({ ...restoreFixture, what: "shop/files/media" }, [])?.volume).toBe("media");
  const newer = { ...restoreFixture, started_at: new Date().toISOString() };
  expect(undoable(restoreFixture, [newer, restoreFixture])).toBeUndefined();
  expect(undoable(restoreFixture, [{ ...newer, state: "undone" }, restoreFixture])).toBeDefined();
  for (const other of [{ kept_until: undefined }, { state: "undone" as const }, { way: "beside" as const }]) {
    expect(undoable({ ...restoreFixture, ...other }, [])).toBeUndefined();
  }
});
