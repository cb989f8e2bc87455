import { describe, expect, test } from "bun:test";
import { type Call, cli } from "../../../support/cli.ts";

const at = "2026-11-28T13:05:00.000Z";
const begins = "2026-11-01T00:00:00.000Z";
const change = { seq: 7, at, kind: "deployment", scope: "shop", name: "web", revision: 9, actor: "ana" };
const manifest = (name: string, env: Record<string, string>) => ({
  ...{ kind: "deployment", scope: "shop", name, spec: { image: "a", env } },
  metadata: { revision: 3 },
});

describe("history", () => {
  test("a line each, then where it begins; what a terminal would obey is not printed", async () => {
    const changes = [
      { ...change, cause: "restore", outcome: "deleted", why: "not wanted at X" },
      { ...change, cause: "apply", outcome: "changed", changed: ["env.A", "image"], why: "fix\x1b[2J it" },
      { ...change, cause: "scale", outcome: "changed", changed: ["replicas"] },
    ];
    const { out, calls } = await cli(["history", "shop/web", "-n", "3"], { server: () => ({ begins, changes }) });
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/ {2,}/g, "  "));
    expect(lines).toMatchObject([
      "TIME  WHO  WHY  WHAT  ON  DETAIL",
      "2026-11-28 13:05:00Z  ana  restore  deleted  deployment/shop/web  not wanted at X",
      expect.stringMatching(/ana {2}apply {2}changed {2}deployment\/shop\/web {2}"fix.* it"; env.A, image$/),
      "2026-11-28 13:05:00Z  ana  scale  changed  deployment/shop/web  replicas",
      "the history begins at 2026-11-01 00:00:00Z",
    ]);
    expect(out).not.toContain("\x1b");
    expect(calls[0]?.query).toEqual({ scope: "shop", name: "web", limit: "3" });
  });

  test("nothing yet", async () => {
    expect((await cli(["history"], { server: () => ({ changes: [] }) })).out).toBe("nothing was applied yet\n");
  });
});

test("diff --at tells what was created, changed and deleted since; a time without a zone is the client's", async () => {
  const server = ({ path, query }: Call) => {
    if (path === "/history/state") {
      expect(query).toEqual({ at: new Date("2026-11-28T14:05").toISOString(), scope: "shop" });
      return { at, begins, manifests: [manifest("web", { A: "1" }), manifest("old", {}), manifest("same", {})] };
    }
    return [manifest("web", { A: "2" }), manifest("new", {}), manifest("same", {})];
  };
  const { out, code } = await cli(["diff", "--at", "2026-11-28 14:05", "shop", "--reveal", "--detailed-exitcode"], {
    server,
  });
  expect(out.replace(/ {2,}/g, " ").trimEnd().split("\n")).toEqual([
    ...["~ deployment/shop/web", ' env.A "1" → "2"', "+ deployment/shop/new", "- deployment/shop/old", ""],
    "1 created, 1 changed, 1 deleted",
  ]);
  expect(code).toBe(2);
  expect((await cli(["diff", "--at", "noon"], { server })).err).toContain("write it like 2026-11-28 14:05");
});

describe("restore --manifests", () => {
  const plan = {
    ...{
      at,
      newest: 41,
      dry_run: true,
      applied: [manifest("web", { A: "1" })],
      current: [manifest("web", { A: "2" })],
    },
    pruned: ["deployment/shop/new"],
    plan: [
      { ref: "deployment/shop/web", action: "update", changed: ["env"], replicas: [], notes: [] },
      { ref: "deployment/shop/new", action: "delete", changed: [], replicas: [], notes: [] },
    ],
    warnings: ["config and the data of volumes stay as they are now"],
  };
  const words = ["restore", "shop", "--manifests", "--at", "2026-11-28T13:05:00Z"];

  test("shows the plan, and without a yes writes nothing", async () => {
    for (const more of [["--dry-run"], []]) {
      const { out, calls, code } = await cli([...words, ...more], { server: () => plan });
      expect(out).toStartWith("shop as it was wanted at 2026-11-28 13:05:00Z\n~ deployment/shop/web");
      expect(out).toContain("! config and the data of volumes stay as they are now");
      expect(calls.map(({ query }) => query)).toEqual([{ at, scope: "shop", dry_run: "true" }]);
      expect(code).toBe(more.length === 0 ? 5 : 0);
    }
  });

  test("with a yes restores what the plan was made for", async () => {
    const { out, calls } = await cli([...words, "-y", "--no-wait", "-m", "bad day"], { server: () => plan });
    expect(calls[1]?.query).toEqual({ at, scope: "shop", expect: "41", message: "bad day" });
    expect(out).toContain("applied 1 resource, deleted 1");
  });

  test("a state that is wanted already needs no question", async () => {
    const server = () => ({ at, newest: 1, dry_run: true, applied: [], pruned: [], plan: [], current: [] });
    const { out, code, calls } = await cli(words, { server });
    expect({ code, calls: calls.length }).toEqual({ code: 0, calls: 1 });
    expect(out).toContain("no changes");
  });

  test("says what is missing", async () => {
    expect((await cli(["restore", "--manifests"])).err).toContain('--at "2026-11-28 14:05"');
    expect((await cli(["restore", "--at", "2026-11-28"])).err).toContain(
      "add --manifests; volumes: berth backup restore",
    );
    expect((await cli([...words, "deployment/shop/web"])).err).toContain("one word too many");
  });
});
