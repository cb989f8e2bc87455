import { describe, expect, test } from "bun:test";
import {
  cellText,
  fieldTime,
  readBackups,
  readFacts,
  readRows,
  readTimes,
  restorableTime,
  splitWords,
} from "../../../../src/ui/text/databases.ts";
import { grantText, previewConsequences } from "../../../../src/ui/text/plugins.ts";

describe("what a database says", () => {
  test("PostgreSQL: the lag of standbys, and the size of all databases", () => {
    const facts = readFacts(
      JSON.stringify({
        ...{ version: "17.2", primary: 1, connections: { used: 3, max: 100 }, exposed: "127.0.0.1:5432" },
        pods: [
          { ordinal: 0, role: "standby", ready: true, lag: 12 },
          { ordinal: 1, role: "primary", ready: true, lag: 0 },
        ],
        databases: [
          { name: "a", bytes: 5, owner: "x" },
          { name: "b", bytes: 7, owner: "y" },
        ],
        links: [{ app: "shop/web", key: "DATABASE_URL", user: "shop", more: 1 }],
      }),
    );
    expect(facts).toMatchObject({
      bytes: 12,
      primary: 1,
      connections: { used: 3, max: 100 },
      exposed: "127.0.0.1:5432",
    });
    expect(facts.pods.map(({ behind }) => behind)).toEqual([12, undefined]);
    expect(facts.links).toEqual([{ app: "shop/web", key: "DATABASE_URL", user: "shop" }]);
  });

  test("Redis: the memory of the primary", () => {
    const pods = [
      { ordinal: 0, role: "primary", ready: true, keys: 2, bytes: 900 },
      { ordinal: 1, role: "standby", ready: true, bytes: 800, behind: 4 },
    ];
    const facts = readFacts(JSON.stringify({ version: "7.2", primary: 0, pods, links: [] }));
    expect([facts.bytes, facts.pods[1]?.behind, facts.connections]).toEqual([900, 4, undefined]);
  });

  test("something else is empty, and no fault", () => {
    expect(readFacts("[]")).toMatchObject({ version: "", pods: [], links: [], bytes: undefined });
    expect(readBackups('{"a":1}')).toEqual([]);
    expect(readRows("null")).toEqual({ columns: [], rows: [], more: false });
  });

  test("a time is taken where a range has it, and is otherwise answered with the ranges", () => {
    const range = (from: string, to: string) => ({ from: `2026-11-${from}:00.000Z`, to: `2026-11-${to}:00.000Z` });
    const said = {
      target: "far",
      ranges: [range("20T10:00", "21T10:00"), range("22T10:00", "23T10:00"), { from: "x" }],
    };
    const { ranges, target, error } = readTimes(JSON.stringify(said));
    expect([ranges.length, target, error]).toEqual([2, "far", ""]);
    const at = (text: string) => fieldTime(Date.parse(`2026-11-${text}Z`));
    expect(restorableTime(at("20T10:00:00"), ranges)).toBe(Date.parse("2026-11-20T10:00:00Z"));
    expect(restorableTime(at("23T10:00:00"), ranges)).toBe(Date.parse("2026-11-23T10:00:00Z"));
    for (const outside of ["20T09:59:59", "21T10:00:01", "23T10:00:01"]) {
      expect(() => restorableTime(at(outside), ranges, "UTC")).toThrow(
        "2026-11-22 10:00:00 UTC to 2026-11-23 10:00:00 UTC",
      );
    }
    expect(() => restorableTime("", ranges, "UTC")).toThrow("Choose a date");
    expect(readTimes("[]")).toEqual({ target: "", ranges: [], error: "" });
  });

  test("the id of a backup is its time", () => {
    const [known, other] = readBackups('[{"id":"20260102T030405Z","bytes":9,"holds":"shop"},{"id":"mine"}]');
    expect([known?.at, known?.bytes, other?.at]).toEqual(["2026-01-02T03:04:05Z", 9, undefined]);
  });

  test("what the check of a backup found is known where the plugin says it", () => {
    const list = readBackups('[{"id":"a","check":"failed","reason":"rows differ"},{"id":"b","check":7},{"id":"c"}]');
    expect(list.map(({ check, reason }) => [check, reason])).toEqual([
      ["failed", "rows differ"],
      [undefined, ""],
      [undefined, ""],
    ]);
  });

  test.each([
    ["get key", ["get", "key"]],
    ['hget "my key" field', ["hget", "my key", "field"]],
    [`get 'a "b"' "c \\"d\\""`, ["get", 'a "b"', 'c "d"']],
    ['get ""', ["get", ""]],
    ['get "open', undefined],
    ['get "a"b', undefined],
  ])("the words of %s", (text, words) => expect(splitWords(text)).toEqual(words));

  test("cells are texts", () => {
    expect([null, "a", 1, { a: [1] }].map(cellText)).toEqual(["NULL", "a", "1", '{"a":[1]}']);
  });
});

test("what a plugin may do is told in words, the engine and the server's user above all", () => {
  const grant = { actions: ["run_job" as const], scopes: ["data"], docker: false, root: false };
  expect(grantText(grant)).toBe("run_job in data");
  expect(grantText({ ...grant, server_env: ["A", "B"] })).toBe(
    "run_job in data; reads A, B of the server's environment",
  );
  expect(grantText({ ...grant, actions: [], scopes: ["*"], docker: true, root: true })).toBe(
    "changes nothing by itself; uses the container engine; runs as the server's user",
  );
  const preview = {
    ...{ preview: true as const, name: "greet", version: "1.2", description: "", homepage: "", aliases: [], kinds: [] },
    ...{
      commands: [],
      env: {},
      source: "a/b",
      digest: "",
      full_grant: true,
      hooks: ["install"],
      warnings: ["no sums"],
    },
    ...{ grant: { ...grant, docker: true, root: true }, more: ["docker"] },
  };
  const ends = previewConsequences(preview).filter(({ ends: isEnd }) => isEnd);
  expect(ends.map(({ text }) => text)).toEqual([
    "New permissions: docker",
    "It uses the container engine, so it can do everything on this machine",
    "It runs as the user of the server, so it can read every secret",
    "It names no permissions, so it gets all of them",
    "Warning: no sums",
  ]);
});
