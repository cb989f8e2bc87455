import { expect, test } from "bun:test";
import { fillList } from "../../../../src/identity/service/listing.ts";

const rows = Array.from({ length: 10 }, (_, at) => at);
const fill = (options: { limit?: number; listBytesMax?: number; from?: number[] }) => {
  const { limit, listBytesMax = 1_000, from = rows } = options;
  const asked: number[] = [];
  const listing = fillList<number>({
    limits: { listBytesMax, listPageRows: 4 },
    limit,
    read(after, count) {
      asked.push(count);
      const start = after === undefined ? 0 : from.indexOf(after) + 1;
      return from.slice(start, start + count);
    },
    render: (row) => ({ row }),
    cursorOf: String,
  });
  return { shown: (JSON.parse(listing.json) as { row: number }[]).map(({ row }) => row), next: listing.next, asked };
};

test("reads page by page to the end", () => {
  expect(fill({})).toEqual({ shown: rows, next: undefined, asked: [4, 4, 4] });
  expect(fill({ from: [] })).toEqual({ shown: [], next: undefined, asked: [4] });
});

test("stops at the limit, and knows whether there is more without a page too many", () => {
  expect(fill({ limit: 3 })).toEqual({ shown: [0, 1, 2], next: "2", asked: [4] });
  expect(fill({ limit: 9 })).toMatchObject({ next: "8" });
  expect(fill({ limit: 10 })).toMatchObject({ shown: rows, next: undefined });
  expect(fill({ limit: 11 })).toMatchObject({ shown: rows, next: undefined });
});

test("stops before the limit of bytes, but gives one however long it is", () => {
  // Each is {"row":N} and a comma, ten bytes; the brackets are two.
  expect(fill({ listBytesMax: 32 })).toMatchObject({ shown: [0, 1, 2], next: "2" });
  expect(fill({ listBytesMax: 31 })).toMatchObject({ shown: [0, 1], next: "1" });
  expect(fill({ listBytesMax: 1 })).toMatchObject({ shown: [0], next: "0" });
  expect(fill({ listBytesMax: 1, from: [7] })).toMatchObject({ shown: [7], next: undefined });
});
