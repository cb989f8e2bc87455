import { expect, test } from "bun:test";
import { createKeptTable } from "../../../../src/orchestration/store/kept-table.ts";

const web = { kind: "deployment", scope: "shop", name: "web" };
const db = { ...web, name: "db" };

function counted(rows: [typeof web, string][]) {
  const reads = { count: 0 };
  const table = createKeptTable(() => {
    reads.count += 1;
    return rows;
  });
  return { table, reads };
}

test("the table is read at the first question, and not again for those who follow", () => {
  const { table, reads } = counted([[web, "a"]]);
  expect(reads.count).toBe(0);
  expect([table.get(web), table.get(db), table.get(web)]).toEqual(["a", undefined, "a"]);
  expect(reads.count).toBe(1);
});

test("a row that was written is answered without a read, and one that was deleted is gone", () => {
  const { table, reads } = counted([[web, "a"]]);
  expect(table.get(web)).toBe("a");
  table.set(db, "b");
  table.set(web, undefined);
  expect([table.get(web), table.get(db)]).toEqual([undefined, "b"]);
  expect(reads.count).toBe(1);
});

test("what was written before the first question comes from the table, and so does everything after writes were undone", () => {
  const { table, reads } = counted([[web, "a"]]);
  table.set(web, "written");
  expect(table.get(web)).toBe("a");
  table.set(db, "undone");
  table.forget();
  expect([table.get(web), table.get(db)]).toEqual(["a", undefined]);
  expect(reads.count).toBe(2);
});
