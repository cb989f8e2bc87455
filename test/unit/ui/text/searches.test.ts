import { expect, test } from "bun:test";
import { searchCommand, searchText } from "../../../../src/ui/text/searches.ts";

test("a search as words, and as the command that saves it", () => {
  const search = { q: "it's", app: "shop/web", level: "error", from: "1h" };
  expect(searchText(search)).toBe("shop/web, it's, error and above, last 1h");
  expect(searchText({})).toBe("every app, live");
  expect(searchCommand(search)).toBe("berth searches save NAME shop/web --grep 'it'\\''s' --level error --since 1h");
});
