import { describe, expect, test } from "bun:test";
import { kindNamed, normalKind } from "../../../../src/client/basics/kinds.ts";
import {
  bucketReference,
  parseReference,
  resourceReference,
  splitReplica,
} from "../../../../src/client/basics/reference.ts";

describe("parseReference", () => {
  test.each([
    ["shop", { word: "shop" }],
    ["shop-web.a1b2c", { word: "shop-web.a1b2c" }],
    ["shop/web", { scope: "shop", name: "web" }],
    ["shop/web.0", { scope: "shop", name: "web.0" }],
    ["deployments/shop/web", { kind: "deployment", scope: "shop", name: "web" }],
    ["postgres/shop/db", { kind: "postgres", scope: "shop", name: "db" }],
  ])("%p", (text, parts) => {
    expect(parseReference(text)).toEqual({ text, ...parts });
  });

  test.each(["", "/", "a/", "/a", "a//b", "a/b/c/d"])("%p names nothing", (text) => {
    expect(() => parseReference(text)).toThrow(`"${text}" names nothing: write scope, scope/name`);
  });
});

test("a resource may be a name alone; a bucket may be a scope alone", () => {
  expect(resourceReference("web")).toEqual({ text: "web", name: "web" });
  expect(resourceReference("shop/web")).toEqual({ text: "shop/web", scope: "shop", name: "web" });
  expect(bucketReference("shop")).toEqual({ text: "shop", scope: "shop" });
  expect(bucketReference("shop/web")).toEqual({ text: "shop/web", scope: "shop", name: "web" });
  expect(bucketReference("postgres/shop/web")).toEqual({ text: "shop/web", scope: "shop", name: "web" });
});

test.each([
  ["web.0", { name: "web", replica: "0" }],
  ["api.v2.k2x9a", { name: "api.v2", replica: "k2x9a" }],
  ["web", undefined],
  ["web.", undefined],
  [".web", undefined],
])("splitReplica(%p)", (name, parts) => {
  expect(splitReplica(name)).toEqual(parts);
});

test.each([
  ["Deployments", "deployment"],
  ["ingress", "ingress"],
  ["ingresses", "ingress"],
  ["registries", "registry"],
  ["postgres", undefined],
])("kindNamed(%p)", (word, kind) => {
  expect(kindNamed(word)).toBe(kind);
  expect(normalKind(word)).toBe(kind ?? word);
});
