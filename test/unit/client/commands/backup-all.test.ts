import { expect, test } from "bun:test";
import type { Restore } from "../../../../src/backups/api/restore.ts";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const row: Restore = {
  ...{ id: "r1", group: "g1", what: "shop/db/data/0", way: "missing", volume: "v", target: "disk", snapshot: "s" },
  ...{ at: "2026-11-28T14:05:00.000Z", bytes: 9, state: "done", started_at: "2026-11-28T14:06:00.000Z" },
  ended_at: "2026-11-28T14:06:01.500Z",
};
const plan = (uncopied: string[]) => ({
  volumes: [{ ...row, replaces: false }],
  at: row.at,
  uncopied,
  unreachable: [],
});

/** A server with these restores, one after the other for each look, that answers a plan so. */
function all(lists: Restore[][], planned: unknown) {
  let at = 0;
  const server = ({ method, path }: Call) => {
    if (path.endsWith("/plan")) return planned;
    if (method === "POST") return { group: "g1", restores: [row] };
    at += 1;
    return { restores: lists[Math.min(at, lists.length) - 1] };
  };
  return cli(["backup", "restore", "--all", "-y"], { server });
}
const nothing = refusal(409, "nothing to restore: no volume is missing", { reason: "NothingMissing" });

test("all that is missing comes back", async () => {
  const { code, out } = await all([[], [row]], plan([]));
  expect([code, out]).toEqual([0, expect.stringContaining("shop/db/data/0  restored 9B of")]);
});

test("a volume without a copy fails the command, after the others have come back", async () => {
  const { code, out, err } = await all([[], [row]], plan(["shop/web/cache"]));
  expect([code, out]).toEqual([1, expect.stringContaining("shop/db/data/0  restored")]);
  expect(err).toContain("error: no copy brings these back: shop/web/cache");
  const failed = await all([[], [{ ...row, state: "failed", error: "the disk is full" }]], plan(["shop/web/cache"]));
  expect(failed.err).toContain("error: 1 of 1 restore failed; no copy brings these back: shop/web/cache");
});

test("where nothing is missing, there is nothing to do", async () => {
  const { code, out, calls } = await all([[]], nothing);
  expect([code, out]).toEqual([0, "no volume is missing, and no database\n"]);
  expect(calls.filter(({ method }) => method === "POST").map(({ path }) => path)).toEqual(["/backups/restores/plan"]);
  const refused = await all([[]], refusal(409, "nothing to restore: no target has a copy of what is missing (a/b/c)"));
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("(a/b/c)")]);
});

test("restores of an earlier run end before it is looked what is missing", async () => {
  const open: Restore = { ...row, state: "fetching", ended_at: undefined };
  const { code, err, calls } = await all([[open], [open], [row]], nothing);
  expect([code, err]).toEqual([
    0,
    expect.stringContaining("waiting for 1 restore under way\nshop/db/data/0  restored"),
  ]);
  expect(calls.map(({ path }) => path).indexOf("/backups/restores/plan")).toBe(calls.length - 1);
});

test("the plan tells what a restore does not bring back", async () => {
  const planned = { ...plan([]), volumes: [{ ...row, replaces: true, note: "it holds backups" }] };
  const { err, out } = await all([[], [row]], planned);
  expect(`${err}${out}`).toContain("shop/db/data/0: it holds backups");
});

test("a target that is away is told once, with all that could not be copied to it", async () => {
  const away = "listing the copies at target /mnt/disk failed: it is away";
  const volume_errors = [`shop/db/data/0: ${away}`, `logs: ${away}`, "shop/web/files: the disk is full"];
  const target = { name: "disk", url: "/mnt/disk", every: "1h", keep: "24h", created_at: row.at, volume_errors };
  const { out } = await cli(["backup", "target", "list"], { server: () => ({ targets: [target] }) });
  expect(out).toEndWith(`disk: shop/db/data/0, logs: ${away}\ndisk: shop/web/files: the disk is full\n`);
  const checked = { ...target, volume_errors: [], check_error: "a pack is cut off" };
  const { out: damaged } = await cli(["backup", "target", "list"], { server: () => ({ targets: [checked] }) });
  expect(damaged).toMatch(/failing\ndisk: a pack is cut off\n$/);
});
