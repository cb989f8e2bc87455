import { expect, test } from "bun:test";
import { splitPluginWord } from "../../../../src/client/entry/plugin-words.ts";

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
