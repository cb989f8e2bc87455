import { expect, test } from "bun:test";
import { namedApp } from "../../../../../src/orchestration/core/plugins/named-app.ts";

test.each<[string, string | undefined]>([
  ["data/main", "data-main"],
  ["--replica 1 data/main.0 x/y", "data-main"],
  ["list", undefined],
  ["", undefined],
  ["/etc/passwd a/b/c ./x", undefined],
  ["-- data/main", undefined],
  ["https://x.example/a", undefined],
])("the words %p are about %p", (line, app) => {
  expect(namedApp(line.split(" "))).toBe(app);
});
