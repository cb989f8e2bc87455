import { expect, test } from "bun:test";
import fc from "fast-check";
import { readQuery } from "../../src/identity/http/query.ts";

const piece = fc.oneof(
  fc.constantFrom(
    "&",
    "=",
    "+",
    "%",
    "%2",
    "%2B",
    "%zz",
    "%FF",
    "%E2%82%AC",
    "%00",
    "query",
    "a",
    "?",
    "#",

    "é",
  ),
  fc.string({ maxLength: 4 }),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("").toWellFormed());

test("a query is what URLSearchParams reads, name by name", () => {
  fc.assert(
    fc.property(text, (query) => {
      const expected = new URLSearchParams(`?${query}`);
      const found = readQuery(`http://x.test/api?${query}`);
      for (const name of new Set([...expected.keys(), "query", "a", "", "none"])) {
        expect([name, found.get(name)]).toEqual([name, expected.get(name)]);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(readQuery("http://x.test/api").get("a")).toBeNull();
});
