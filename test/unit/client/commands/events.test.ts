import { describe, expect, test } from "bun:test";
import { type Call, cli, type Scene } from "../../../support/cli.ts";

const event = (seq: number) => ({
  seq,
  at: "2026-01-01T00:00:00.000Z",
  actor: "ana",
  action: `act.${seq}`,
  scope: "shop",
});

/** A log of so many events; each look after the first finds one more, until `last`. */
function growing(from: number, last: number) {
  let newest = from;
  return ({ query }: Call) => {
    const after = query.after === undefined ? 0 : Number(query.after);
    const events = [];
    for (let seq = after + 1; seq <= newest; seq++) events.push(event(seq));
    newest = Math.min(last, newest + 1);
    return { events };
  };
}

const stopAfter =
  (ms: number): Scene["onSleep"] =>
  (passed, interrupt) => {
    if (passed >= ms) interrupt();
  };

test("what an app printed last stands below the row of its event", async () => {
  const crash = {
    ...event(1),
    action: "replica.crash",
    detail: { exit_code: 3, last_lines: ["no\x1b[31m database", "bye"] },
  };
  const { out } = await cli(["events", "shop"], { server: () => ({ events: [crash, event(2)] }) });
  expect(out).toMatch(/replica\.crash .*exit_code=3\n {4}\| no.* database\n {4}\| bye\n.*act\.2/);
  expect(out).not.toContain("last_lines");
});

test("a changed asset is named as the operator wrote it", async () => {
  const detail = { outcome: "updated", changed: ['_asset_digests["shop.page.index"]', "image"] };
  const { out } = await cli(["events", "shop"], { server: () => ({ events: [{ ...event(2), detail }] }) });
  expect(out).toContain("changed=asset shop.page.index,image");
});

describe("events -f", () => {
  test("shows what there is, then each event once, until Ctrl-C", async () => {
    const { out, code, calls } = await cli(["events", "shop", "-f"], {
      server: growing(2, 4),
      onSleep: stopAfter(10_000),
    });
    expect(code).toBe(130);
    expect(out.match(/act\.\d/g)).toEqual(["act.1", "act.2", "act.3", "act.4"]);
    expect(out.match(/TIME/g)).toHaveLength(1);
    expect(calls.slice(0, 3).map(({ query }) => query)).toEqual([
      { scope: "shop" },
      { scope: "shop", after: "2" },
      { scope: "shop", after: "3" },
    ]);
  });

  test("begins after a number, and where nothing has happened yet", async () => {
    const { out, calls } = await cli(["events", "-f", "--after", "7"], {
      server: () => ({ events: [] }),
      onSleep: stopAfter(2_500),
    });
    expect(calls.map(({ query }) => query.after)).toEqual(calls.map(() => "7"));
    expect(calls.length).toBeGreaterThan(1);
    expect(out).toBe("no events\n");
  });

  test("-o json is an event a line", async () => {
    const { out } = await cli(["events", "-f", "-o", "json"], { server: growing(1, 3), onSleep: stopAfter(10_000) });
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).seq),
    ).toEqual([1, 2, 3]);
  });
});

test("without -f it is asked once", async () => {
  const { calls, code } = await cli(["events", "--limit", "5"], { server: growing(2, 4) });
  expect([calls.map(({ query }) => query), code]).toEqual([[{ limit: "5" }], 0]);
});
