import { expect, test } from "bun:test";
import { rehearsalRows } from "../../../../src/ui/text/rehearsals.ts";
import { rehearsalsFixture } from "../../../support/ui/backup-fixtures.ts";

test("a rehearsal has a row for each app, those of its files first, and for what it left out", () => {
  const rows = rehearsalRows(rehearsalsFixture.rehearsals);
  expect(rows.map(({ state, app, time, age, notes }) => [state, app, time, age, ...notes])).toEqual([
    ["under way", "", "–", "–"],
    [
      ...["failed", "shop/files", "–", "2 h 46 min"],
      "its release command ended with exit code 3; it printed last: no such table: media",
    ],
    [
      ...["started", "shop/new", "2 s", "–"],
      ...["it has no check that could prove it", "empty, without a copy: shop/new/data"],
    ],
    ["passed", "shop/db (beside it)", "4.2 s", "2 h 46 min"],
    ["left out", "ingress/shop/files", "–", "–", "only deployments and statefulsets are rehearsed"],
  ]);
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
});

test("a release command that passed is said, also where the app did not start", () => {
  const [, { apps = [], ...one } = rehearsalsFixture.rehearsals[0] ?? { apps: [] }] = rehearsalsFixture.rehearsals;
  const release = { exit_code: 0, output: "moved" };
  const failed = { ...apps[2], release, why: "it ended" };
  const [row] = rehearsalRows([{ ...one, apps: [failed] } as never]);
  expect(row?.notes).toEqual(["it ended", "its release command passed"]);
});
