import { describe, expect, test } from "bun:test";
import { remembered, shared } from "../../../../src/ingress/core/remember.ts";

describe("remembered", () => {
  const calls: string[] = [];
  const joined = remembered((key: { name: string }, separator: string) => {
    calls.push(key.name);
    return `${key.name}${separator}`;
  });

  test("computes once for an object, and again when something else changes", () => {
    const key = { name: "a" };
    expect([joined(key, "-"), joined(key, "-"), joined(key, "+"), joined(key, "+")]).toEqual(["a-", "a-", "a+", "a+"]);
    expect(calls).toEqual(["a", "a"]);
  });

  test("knows objects by identity", () => {
    calls.length = 0;
    expect([joined({ name: "b" }, "-"), joined({ name: "b" }, "-")]).toEqual(["b-", "b-"]);
    expect(calls).toEqual(["b", "b"]);
  });
});

describe("shared", () => {
  test("keeps the old objects of what is equal, in the new order", () => {
    const kept = { id: "b", hosts: ["b.test"] };
    const found = shared(
      [{ id: "a", hosts: ["a.test"] }, kept],
      [
        { id: "c", hosts: [] },
        { id: "b", hosts: ["b.test"] },
        { id: "a", hosts: ["other.test"] },
      ],
    );
    expect(found).toEqual([
      { id: "c", hosts: [] },
      { id: "b", hosts: ["b.test"] },
      { id: "a", hosts: ["other.test"] },
    ]);
    expect(found[1]).toBe(kept);
  });
});
