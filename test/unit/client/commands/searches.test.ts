import { expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";

const saved = {
  ...{ name: "failed", q: "status>=500", app: "shop", level: "error", from: "24h" },
  ...{ updated_at: "2026-01-31T13:05:00.000Z", updated_by: "cli" },
};

test("the list says what each search looks for", async () => {
  const { out, calls } = await cli(["searches"], { server: () => ({ searches: [saved] }) });
  expect(calls[0]?.path).toBe("/logs/searches");
  expect(out.split("\n")[1]).toBe("failed  shop  status>=500  error and above  last 24h");
  expect((await cli(["searches"], { server: () => ({ searches: [] }) })).out).toContain("no saved searches");
});

test("save sends what the flags of logs mean", async () => {
  const words = ["searches", "save", "failed", "shop", "--field", "status>=500", "--level", "error", "--since", "24h"];
  const { code, calls, out } = await cli(words, { server: () => saved });
  expect([code, calls[0]]).toMatchObject([
    0,
    {
      method: "PUT",
      path: "/logs/searches/failed",
      body: { q: expect.stringMatching(/^status>="?500"?$/), app: "shop", level: "error", from: "24h" },
    },
  ]);
  expect(out).toContain("berth logs --saved failed");
});

test("logs --saved asks the store for what was saved, and other flags narrow it", async () => {
  const server = ({ path }: { path: string }) =>
    path.startsWith("/logs/searches") ? { searches: [saved] } : { lines: [], matched: 0 };
  const { code, calls } = await cli(["logs", "--saved", "failed", "--grep", "pay", "--since", "1h"], { server });
  expect(code).toBe(0);
  expect(calls[1]?.path).toStartWith("/logs/search");
  expect(calls[1]?.query).toMatchObject({ app: "shop", level: "error", from: "1h", q: expect.stringContaining("pay") });
  const unknown = await cli(["logs", "--saved", "other"], { server });
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('there is no saved search "other"')]);
});

test("remove and wrong words", async () => {
  expect((await cli(["searches", "remove", "failed"], { server: () => saved })).out).toContain("removed failed");
  for (const words of [["searches", "find"], ["searches", "save"], ["searches", "remove"], ["logs"]])
    expect((await cli(words, { server: () => saved })).code).toBe(2);
});
