import { describe, expect, test } from "bun:test";
import { cli, refusal } from "../../../support/cli.ts";

const held = {
  scope: "shop",
  name: "web",
  reason: "the database moves",
  actor: "ana",
  since: "2026-01-01T23:58:00.000Z",
};

describe("lock, unlock and locks", () => {
  test("send the place, the reason and the time", async () => {
    const { out, calls } = await cli(["lock", "shop/web", "the database moves", "--for", "2h"], { server: () => held });
    expect(calls.filter(({ method }) => method !== "GET")).toMatchObject([
      {
        method: "POST",
        path: "/locks",
        query: { scope: "shop", name: "web", reason: "the database moves", for: "2h" },
      },
    ]);
    expect(out).toBe("locked shop/web; unlock it with: berth unlock shop/web\n");
    const back = await cli(["unlock", "shop"], { server: () => ({ ...held, name: undefined }) });
    expect(back.calls).toMatchObject([{ method: "DELETE", path: "/locks", query: { scope: "shop" } }]);
    expect(back.out).toBe("unlocked shop; it was locked by ana: the database moves\n");
  });

  test("of a place where nothing is stored warns, and is no error", async () => {
    const nope = { ...held, scope: "nope", name: undefined };
    const lock = (stored: unknown[]) => {
      return cli(["lock", "nope", "typo"], { server: ({ path }) => (path === "/locks" ? nope : stored) });
    };
    const { code, err } = await lock([]);
    expect([code, err]).toEqual([0, "! nothing is stored under nope yet: the lock is for what comes\n"]);
    const something = { kind: "deployment", scope: "nope", name: "web", spec: {} };
    expect((await lock([something])).err).toBe("");
  });

  test("list what is locked", async () => {
    const { out } = await cli(["locks"], {
      server: () => ({ locks: [held, { ...held, scope: "blog", name: undefined, until: "2026-01-02T02:00:00.000Z" }] }),
    });
    expect(out.split("\n").map((line) => line.trimEnd())).toEqual([
      "WHAT      BY   AGE  UNTIL                 WHY",
      "shop/web  ana  2m   -                     the database moves",
      "blog      ana  2m   2026-01-02 02:00:00Z  the database moves",
      "",
    ]);
    expect((await cli(["locks"], { server: () => ({ locks: [] }) })).out).toBe("nothing is locked\n");
  });

  test("a refused change names the command that unlocks", async () => {
    const { err, code } = await cli(["scale", "shop/web=2"], {
      server: () => refusal(409, "shop/web is locked by ana", { reason: "Locked", fields: { lock: "shop/web" } }),
    });
    expect([code, err]).toEqual([1, "error: shop/web is locked by ana\n  take changes again: berth unlock shop/web\n"]);
  });

  test.each([
    [["lock", "shop"], "say what and why"],
    [["lock", "shop/web/x", "why"], '"shop/web/x" is not SCOPE or SCOPE/NAME'],
    [["lock", "/web", "why"], '"/web" is not SCOPE or SCOPE/NAME'],
    [["unlock"], "say what to unlock"],
    [["locks", "a", "b"], "locks takes one SCOPE at most"],
  ])("%p is wrong usage", async (words, message) => {
    const { err, code } = await cli(words);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
