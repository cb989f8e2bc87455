import { expect, test } from "bun:test";
import { splitPluginWord, withZone } from "../../../../src/client/entry/plugin-words.ts";

test.each([
  ["pg:psql", ["pg", "psql"]],
  ["pg:backups:capture", ["pg", "backups:capture"]],
  ["config:set", ["config", "set"]],
  ["my_db-2:a.b", ["my_db-2", "a.b"]],
  ["pg", ["pg"]],
  ["pg:", ["pg:"]],
  [":psql", [":psql"]],
  ["http://x", ["http://x"]],
  ["Pg:psql", ["Pg:psql"]],
])("%s is %p", (word, parts) => {
  expect(splitPluginWord(word)).toEqual(parts);
});

test("a time without a zone after --at is one of this machine, and goes to the plugin in UTC", () => {
  const here = (text: string) => new Date(text).toISOString();
  const cases: [string[], string[]][] = [
    [
      ["--at", "2026-11-27 14:05"],
      ["--at", here("2026-11-27T14:05")],
    ],
    [["--at=2026-11-27T14:05:09"], [`--at=${here("2026-11-27T14:05:09")}`]],
    [
      ["--at", "2026-11-27T14:05Z"],
      ["--at", "2026-11-27T14:05Z"],
    ],
    [
      ["--at", "latest"],
      ["--at", "latest"],
    ],
    [["2026-11-27 14:05"], ["2026-11-27 14:05"]],
    [
      ["--", "--at", "2026-11-27 14:05"],
      ["--", "--at", "2026-11-27 14:05"],
    ],
  ];
  for (const [words, sent] of cases) expect(words.map(withZone)).toEqual(sent);
});
