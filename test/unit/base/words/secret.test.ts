import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { redacted, secret } from "../../../../src/base/words/secret.ts";

test("reveal gives the value", () => {
  expect(secret("hunter2").reveal()).toBe("hunter2");
});

test("no way of printing shows the value", () => {
  const hidden = secret("hunter2");
  const printed = [
    `${hidden}`,
    JSON.stringify({ hidden }),
    inspect({ hidden }),
    Bun.inspect({ hidden }),
    String(hidden),
  ];
  for (const text of printed) expect(text).not.toContain("hunter2");
  expect(`${hidden}`).toBe(redacted);
  expect(JSON.parse(JSON.stringify({ hidden }))).toEqual({ hidden: redacted });
});

test("it cannot be altered", () => {
  expect(Object.isFrozen(secret("hunter2"))).toBe(true);
});
