import { Type } from "@sinclair/typebox";
import { expect, test } from "bun:test";
import type { Method } from "../../../../src/base/wire/endpoint.ts";
import { Flag, Text } from "../../../../src/base/wire/query.ts";
import { pathOf, readActor, readCount, readPodName, readQuery } from "../../../../src/base/http/request.ts";

const schema = Type.Object({ scope: Text("scope"), prune: Flag("prune") });
const read = (method: Method, text: string) =>
  readQuery(new Request(`http://localhost/x${text}`), { method, query: schema });
const query = (text: string) => read("GET", text);

test("the path is what stands before the query, as sent", () => {
  expect(pathOf(new Request("http://x/a/b%20c?d=/e"))).toBe("/a/b%20c");
  expect(pathOf(new Request("http://localhost:8686/"))).toBe("/");
});

test("query values are trimmed, blank ones count as left out, and reads ignore unknown ones", () => {
  expect(query("?scope=%20a+b%20&prune=1&other=x")).toEqual({ scope: "a b", prune: "1" });
  expect(query("?scope=%20&prune=")).toEqual({});
  expect(query("")).toEqual({});
  expect(query("?constructor=x&__proto__=y")).toEqual({});
});

test.each(["True", "yes", "2", "truefalse", "true\n1"])("%j is no boolean", (value) => {
  expect(() => query(`?prune=${encodeURIComponent(value)}`)).toThrow("query prune: ");
});

test.each(["POST", "PUT", "PATCH", "DELETE"] as const)(
  "%s refuses unknown parameters and says what was meant",
  (method) => {
    expect(read(method, "?scope=a&prune=1")).toEqual({ scope: "a", prune: "1" });
    expect(read(method, "?")).toEqual({});
    expect(() => read(method, "?scope=a&prnue=true")).toThrow(
      'query "prnue": not a parameter of this request; did you mean "prune"; it takes scope, prune',
    );
    expect(() => read(method, "?Scope=a")).toThrow('did you mean "scope"');
    expect(() => read(method, "?constructor=x")).toThrow('query "constructor"');
    expect(() => read(method, "?=x")).toThrow('query ""');
    expect(() => read(method, `?${"x".repeat(9_000)}=1`)).toThrow(/^.{1,200}$/);
    expect(() => readQuery(new Request("http://localhost/x?wait=1"), { method })).toThrow("it takes none");
  },
);

test.each(["POST", "PUT", "PATCH", "DELETE"] as const)(
  "%s refuses a blank parameter, but for scope and kind",
  (method) => {
    expect(() => read(method, "?scope=a&prune=")).toThrow("query prune: is empty; give it a value, or leave it out");
    expect(() => read(method, "?prune=%20")).toThrow("query prune: is empty");
    expect(read(method, "?scope=&prune=1")).toEqual({ prune: "1" });
  },
);

test("a parameter given twice is refused rather than chosen from", () => {
  expect(() => query("?scope=a&scope=b")).toThrow("query scope: given more than once");
});

test("counts are whole numbers up to a maximum", () => {
  expect(readCount("limit", undefined, 10)).toBeUndefined();
  expect(readCount("limit", "0", 10)).toBe(0);
  expect(readCount("limit", "10", 10)).toBe(10);
  for (const text of ["11", "-1", "1.5", "1e1", "0x1", "ten", "9".repeat(16)]) {
    expect(() => readCount("limit", text, 10)).toThrow("is not a whole number from 0 to 10");
  }
});

test("pod names are container names", () => {
  expect(readPodName({ name: "s-web.Ab_1" })).toBe("s-web.Ab_1");
  for (const name of ["", ".a", "-a", "a/b", "a b", "..", "a\n", "é", null]) {
    expect(() => readPodName({ name })).toThrow("pod name");
  }
});

test("the actor is short printable text, else operator", () => {
  const actor = (value: string) => readActor(new Request("http://localhost/", { headers: { "X-A": value } }), "X-A");
  expect(actor("  ada@laptop ")).toBe("ada@laptop");
  expect(actor("x".repeat(128))).toBe("x".repeat(128));
  expect(actor("x".repeat(129))).toBe("operator");
  expect(actor("caf\u00e9")).toBe("operator");
});
