import { expect, test } from "bun:test";
import { drillText, protectionIn, protectionRows } from "../../../../src/client/text/protection-text.ts";
import { plainStyle } from "../../../support/plain-style.ts";

const ended = { started_at: "2026-11-22T10:00:00Z", ended_at: "2026-11-22T10:01:00Z", copy_at: "2026-11-22T08:00:00Z" };
const proved = { ...ended, result: "proved" as const, recovery_point_seconds: 7_200, recovery_seconds: 41.2 };
const app = (name: string, drill?: object, every: string | undefined = "1d") => ({
  kind: "deployment",
  scope: "shop",
  name,
  every,
  drill,
  volumes: [],
});

test("the last drill of an app is told in one line", () => {
  expect(drillText(proved, plainStyle)).toBe("proved by its own check: ready in 41.2 s, from a copy that was 2h old");
  const started = { ...proved, result: "started" as const, recovery_seconds: 90 };
  expect(drillText(started, plainStyle)).toContain("started; it has no check that could prove it: ready in 1m30s");
  expect(drillText({ ...ended, result: "failed", why: "the copy is damaged" }, plainStyle)).toMatch(
    /^failed at .*: the copy is damaged$/,
  );
  const not = { ...ended, result: "not_drilled" as const, why: "it is privileged" };
  expect(drillText(not, plainStyle)).toBe("not drilled: it is privileged");
  expect(drillText({}, plainStyle)).toBe("not yet");
  expect(drillText({ running_since: "2026-11-22T10:00:00Z" }, plainStyle)).toBe("under way");
});

test("of all apps: how many stood again, the worst figures, and each that did not with the reason", () => {
  const slow = { ...proved, result: "started" as const, recovery_seconds: 130, recovery_point_seconds: 60 };
  const protection = protectionIn(
    [
      app("db", proved),
      app("web", slow),
      app("bad", { ...ended, result: "failed", why: "data is damaged" }),
      app("host", { ...ended, result: "not_drilled", why: "it is privileged" }),
      app("new", { next_at: "2026-11-23T10:00:00Z" }),
      // Not protected any more: its last drill says nothing of now.
      { ...app("open", proved), every: undefined },
    ],
    [],
    1,
  );
  expect(protection.drills).toEqual({
    ...{ good: 2, recovery_point_seconds: 7_200, recovery_seconds: 130, waiting: 1 },
    failed: [{ app: "shop/bad", why: "data is damaged" }],
    not_drilled: [{ app: "shop/host", why: "it is privileged" }],
  });
  expect(protectionRows(protection, plainStyle)).toEqual([
    ["backups", "5 of 6 apps with volumes are copied; not protected: shop/open"],
    [
      "drills",
      "2 of 5 protected apps stood again from their copies, the slowest in 2m10s, from copies up to 2h old; " +
        "failed: shop/bad (data is damaged); not drilled: shop/host; see: berth backup drills",
    ],
  ]);
});

test("nothing is said before the first drill, nor of a server that does not tell", () => {
  const rows = (apps: Parameters<typeof protectionIn>[0]) => protectionRows(protectionIn(apps, [], 1), plainStyle);
  expect(rows([app("db", {})])).toEqual([["backups", "1 of 1 apps with volumes are copied"]]);
  expect(rows(undefined)).toEqual([]);
});
