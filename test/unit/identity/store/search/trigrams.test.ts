import { expect, test } from "bun:test";
import { parseSearch } from "../../../../../src/identity/core/search.ts";
import { searchColumns } from "../../../../../src/identity/core/search-columns.ts";
import { trigramQuery } from "../../../../../src/identity/store/search/run.ts";

const query = (text: string) => trigramQuery(["email", "name"], parseSearch(text, searchColumns.users));

test("all runs of three, folded, of every text; alternatives stay alternatives", () => {
  expect(query("name:*SILva*")).toBe('(({name} : ("sil" AND "ilv" AND "lva")))');
  expect(query("name:*ana*bob* email:x@y")).toBe('(({name} : ("ana" AND "bob"))) AND (({email} : ("x@y")))');
  expect(query("name:*ana* name:Bob*")).toBe('(({name} : ("ana")) OR ({name} : ("bob")))');
});

test("what is too short, or negated, or in no index, asks nothing of it", () => {
  for (const text of [
    "name:*an*",
    "name:*ana* name:*bo*",
    "-name:*ana*",
    "name>ana",
    "id:*abc*",
    "created_at:2026-01-01",
  ]) {
    expect([text, query(text)]).toEqual([text, undefined]);
  }
  expect(query("name:*an* email:*shop*")).toBe('(({email} : ("sho" AND "hop")))');
});

test("nothing in a text is an operator", () => {
  expect(query('name:*a"b*')).toBe('(({name} : ("a""b")))');
  expect(query("name:*OR*) email:*{x*")).toBeUndefined();
  expect(query("name:*NOT*")).toBe('(({name} : ("not")))');
});

test("characters beyond the first plane are one character each, and a long text is not asked for whole", () => {
  expect(query("name:*𝒜𝒜𝒜*")).toBe('(({name} : ("𝒜𝒜𝒜")))');
  const long = Array.from({ length: 200 }, (_, index) =>
    String.fromCharCode(97 + (index % 26), 97 + ((index * 7) % 26)),
  ).join("");
  expect(query(`name:*${long}*`)?.split(" AND ")).toHaveLength(24);
});
