import { expect, test } from "bun:test";
import { readAsReader, readInReserve } from "../../../../plugins/postgres/read-script.ts";

const nasty = "select 1 $berth$; \\! id\n'; drop table users";

test.each([
  ["as reader", readAsReader(nasty, { limit: 3, to: '"app"' })],
  ["in reserve", readInReserve(nasty, 3)],
])("%s: a statement travels as data alone", (_how, script) => {
  expect(script).not.toContain("drop table");
  expect(script).not.toContain("! id");
  expect(script).toContain(Buffer.from(nasty).toString("base64"));
});

test("in reserve, what is read runs in a function of the reader and never as the superuser", () => {
  const script = readInReserve("select 1", 3);
  const lines = script.split("\n");
  const owned = lines.findIndex((line) =>
    line.startsWith("alter function pg_temp.berth_read(text) owner to berth_reader"),
  );
  const readOnly = lines.indexOf("set transaction read only;");
  const called = lines.findIndex((line) => line.startsWith("select pg_temp.berth_read("));
  expect([owned > 0, readOnly > owned, called > readOnly, lines[called + 1]]).toEqual([true, true, true, "rollback;"]);
  expect(script).toContain("if current_user <> 'berth_reader'");
  expect(script.indexOf("set search_path = pg_catalog;")).toBeLessThan(script.indexOf("select "));
});
