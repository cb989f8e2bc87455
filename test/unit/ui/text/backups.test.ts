import { expect, test } from "bun:test";
import type { VolumeCopies } from "../../../../src/backups/api/backups.ts";
import { protectionOf } from "../../../../src/backups/api/protection.ts";
import type { PlannedRestore } from "../../../../src/backups/api/restore.ts";
import {
  copiedAt,
  copyProblems,
  copyRows,
  placeText,
  restoreEffects,
  unprotected,
} from "../../../../src/ui/text/backups.ts";
import type { App } from "../../../../src/observability/api/app-model.ts";
import { drillFigures, drillRows } from "../../../../src/ui/text/drills.ts";
import { backedUpApps, targetsFixture } from "../../../support/ui/backup-fixtures.ts";

const volume = (name: string, ...copies: VolumeCopies[]) => ({ volume: name, copies });
const copy = (target: string, at?: string, more: Partial<VolumeCopies> = {}) => ({ target, at, ...more });

test("an app is protected only where every volume has a copy at every target that it is to have", () => {
  const every = "1d";
  const of = (...volumes: ReturnType<typeof volume>[]) => protectionOf({ every, volumes });
  expect(protectionOf({ volumes: [volume("a")] })).toBe("not protected");
  // What was copied before the field was taken away is still there, and protects no longer.
  expect(protectionOf({ volumes: [volume("a", copy("disk", "2026-01-01"))] })).toBe("not protected");
  expect(of(volume("a"))).toBe("no target");
  expect(of()).toBe("no copy yet");
  expect(of(volume("a", copy("disk", "2026-01-01"), copy("far")))).toBe("no copy yet");
  expect(of(volume("a", copy("disk", "2026-01-01")), volume("b", copy("disk")))).toBe("no copy yet");
  expect(of(volume("a", copy("disk", "2026-01-01"), copy("far", "2026-01-01", { error: "away" })))).toBe("failing");
  expect(of(volume("a", copy("disk", "2026-01-01"), copy("far", "2026-01-01")))).toBe("protected");
});

test("the copy that counts is the newest of the volume that was copied longest ago", () => {
  const a = volume("a", copy("disk", "2026-01-03"), copy("far", "2026-01-01"));
  const b = volume("b", copy("disk", "2026-01-01"), copy("far", "2026-01-02"));
  expect(copiedAt({ volumes: [a, b] })).toEqual({ target: "far", at: "2026-01-02" });
  expect(copiedAt({ volumes: [a, b, volume("c", copy("disk"))] })).toBeUndefined();
  expect(copiedAt({ volumes: [] })).toBeUndefined();
});

test("rows: each target of each app with the size of all its volumes; an app without a target has one", () => {
  const rows = copyRows(backedUpApps).map(({ app, target, state, bytes }) => [app.name, target, state, bytes]);
  expect(rows).toEqual([
    ["db", "offsite", "failing", 4_700_000_000],
    ["search", undefined, "not protected", undefined],
    ["new", "disk", "no copy yet", undefined],
    ["db", "disk", "protected", 4_812_345_678],
    ["files", "disk", "protected", 935_000_000],
  ]);
  expect(unprotected(backedUpApps)).toEqual({ names: ["shop/search"], withVolumes: 4 });
});

test("problems: a target that fails, holds damaged data, is too large or waits, and each volume that is not copied", () => {
  const [disk, offsite] = targetsFixture.targets;
  if (disk === undefined || offsite === undefined) throw new Error("there are two targets");
  const titles = (target: typeof disk) => copyProblems([], [target]).map(({ title }) => title);
  expect(titles(disk)).toEqual([]);
  expect(titles({ ...disk, check_error: "pack 3f is damaged" })).toEqual([
    "The data at disk is damaged, or could not be checked",
  ]);
  expect(titles({ ...disk, max_size_bytes: 1 })).toEqual(["disk is larger than its limit"]);
  expect(titles({ ...disk, held: "another server took its place" })).toEqual(["No copies are made to disk"]);
  const found = copyProblems(backedUpApps, [offsite]);
  expect(found.map(({ title }) => title)).toEqual([
    "The state of the server is not copied to offsite",
    "data/0 of shop/db is not copied to offsite",
    "The copies of shop/files did not start again in the last drill",
  ]);
  expect(found.map(({ since }) => since === undefined)).toEqual([false, false, false]);
  expect(found[2]?.cause).toContain("no such table: media");
});

test("drills: the failed first, one under way is said, and an app that is not protected any more has none", () => {
  const under = { ...backedUpApps[0], backup: { ...backedUpApps[0]?.backup, volumes: [] } } as App;
  const drill = { result: "failed" as const, running_since: "2026-01-01T00:00:00Z", recovery_seconds: 0.4 };
  const rows = drillRows([
    ...backedUpApps,
    { ...under, name: "again", backup: { every: "1d", volumes: [], drill } },
    { ...under, name: "gone", backup: { volumes: [], drill } },
    { ...under, name: "odd", backup: { every: "1d", volumes: [], drill: { result: "not_drilled", why: "no room" } } },
  ]);
  expect(rows.map(({ app, state, tone }) => [app.name, state, tone])).toEqual([
    ["files", "failed", "bad"],
    ["again", "under way", "work"],
    ["odd", "not drilled", "warn"],
    ["db", "proved", "good"],
    ["new", "not yet", "work"],
  ]);
  expect(rows.map(({ drill }) => drillFigures(drill).time)).toEqual(["–", "400 ms", "–", "41 s", "–"]);
});

test("a restore says what it replaces and that there is a way back, or that nothing is changed", () => {
  const planned: PlannedRestore = {
    ...{ what: "shop/db/data/0", way: "in_place", volume: "v", target: "disk", snapshot: "a", at: "2026-01-01" },
    ...{ bytes: 2_097_152, replaces: true },
  };
  expect(placeText(planned)).toBe("takes the place of the data of now");
  expect(placeText({ ...planned, path: "etc/a" })).toContain("the rest of the volume stays");
  expect(restoreEffects([planned]).map(({ ends = false }) => ends)).toEqual([false, false, true, false]);
  expect(restoreEffects([planned])[0]?.text).toContain("2 MiB of 1 volume");
  const beside: PlannedRestore = { ...planned, way: "beside", mount: "data-0-of-x", replaces: false };
  expect(placeText(beside)).toContain("mount as data-0-of-x");
  expect(placeText({ ...planned, way: "missing", replaces: false })).toBe("comes back as v, which is missing");
  expect(restoreEffects([beside]).at(-1)?.text).toBe("Nothing that is there is changed");
  const gone: PlannedRestore = { ...planned, way: "missing", replaces: false };
  expect(restoreEffects([beside, gone]).at(-1)?.text).toBe("Apps that wait for them start by themselves");
});
