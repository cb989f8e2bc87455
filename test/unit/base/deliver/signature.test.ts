import { createHmac } from "node:crypto";
import { expect, test } from "bun:test";
import { signature, signingSecret } from "../../../../src/base/deliver/signature.ts";
import { secret } from "../../../../src/base/words/secret.ts";

const key = (fill: number) => secret(new Uint8Array(32).fill(fill));

test("the secret comes from the key alone, tells nothing about it, and does not print", () => {
  const made = signingSecret(key(7));
  expect(made.reveal()).toMatch(/^[0-9a-f]{64}$/);
  expect(signingSecret(key(7)).reveal()).toBe(made.reveal());
  expect(signingSecret(key(8)).reveal()).not.toBe(made.reveal());
  expect(made.reveal()).not.toContain("0707");
  expect(`${made}`).toBe("[redacted]");
});

test("the derivation never changes: receivers keep their copy through upgrades", () => {
  expect(signingSecret(key(7)).reveal()).toBe("d3e0479bc9af0522a02ed88a9c7b3cac603212947b8f6fd37b77e13d8448acbc");
});

test("a receiver that has only the text can check it", () => {
  const made = signingSecret(key(7));
  const expected = createHmac("sha256", made.reveal()).update('1767225600.{"a":"ü"}').digest("hex");
  expect(signature(made, 1_767_225_600, '{"a":"ü"}')).toBe(`sha256=${expected}`);
});

test("time and body are both signed", () => {
  const made = signingSecret(key(7));
  expect(signature(made, 1, "a")).not.toBe(signature(made, 2, "a"));
  expect(signature(made, 1, "a")).not.toBe(signature(made, 1, "b"));
});
