import { expect, test } from "bun:test";
import fc from "fast-check";
import { isOfApp, pageBack } from "../../../../src/observability/service/paging.ts";

interface Row {
  seq: number;
  wanted: boolean;
}

/** A log that is read in batches of `size`, as a server hands it out: those before a number, oldest first. */
const look = (rows: readonly Row[], size: number, limit: number) => ({
  ...{ limit, looksMax: 1_000 },
  read: async (before: number | undefined) =>
    rows.filter(({ seq }) => before === undefined || seq < before).slice(-size),
  numberOf: ({ seq }: Row) => seq,
  isWanted: ({ wanted }: Row) => wanted,
  isTooOld: () => false,
});

test("pages together are every wanted row once, newest first", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      async (flags, size, limit) => {
        const rows = flags.map((wanted, index) => ({ seq: index + 1, wanted }));
        const seen: number[] = [];
        let before: number | undefined;
        for (let page = 0; page < 100; page++) {
          const { rows: found, next } = await pageBack(look(rows, size, limit), before);
          expect(found.length).toBeLessThanOrEqual(limit);
          seen.push(...found.map(({ seq }) => seq));
          if (next === undefined) break;
          before = Number(next);
        }
        const wanted = rows.filter((row) => row.wanted).map(({ seq }) => seq);
        expect(seen).toEqual(wanted.toReversed());
      },
    ),
  );
});

test("a filter that fits nothing ends after so many looks and says where to go on", async () => {
  const rows = Array.from({ length: 100 }, (_, index) => ({ seq: index + 1, wanted: false }));
  expect(await pageBack({ ...look(rows, 10, 5), looksMax: 3 })).toEqual({ rows: [], next: "71" });
});

test("SCOPE means every app of it, SCOPE/NAME one", () => {
  const web = { scope: "shop", name: "web" };
  expect([undefined, "shop", "shop/web", "shop/api", "back", "sho"].map((app) => isOfApp(app, web))).toEqual([
    ...[true, true, true],
    ...[false, false, false],
  ]);
});
