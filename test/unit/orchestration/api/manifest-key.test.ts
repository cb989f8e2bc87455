import { expect, test } from "bun:test";
import { keyText, parseKeyText } from "../../../../src/orchestration/api/manifest-key.ts";

test("the text of a key gives the key back, with and without a scope", () => {
  const scoped = { kind: "deployment", scope: "demo", name: "a.b-c" };
  expect(parseKeyText(keyText(scoped))).toEqual(scoped);
  expect(parseKeyText(keyText({ kind: "registry", name: "hub" }))).toEqual({
    kind: "registry",
    scope: "",
    name: "hub",
  });
});
