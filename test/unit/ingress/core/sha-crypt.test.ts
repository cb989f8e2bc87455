import { expect, test } from "bun:test";
import { isPasswordHash } from "../../../../src/base/pure/password-hash.ts";
import { hashPassword } from "../../../../src/ingress/core/sha-crypt.ts";

/** crypt(3) of glibc confirmed each. */
test.each([
  ["x", "$5$rounds=1000$NJmm9ZUV1BVE05Ut$u35ydl15r85mYtQ6uXI78Gd3I/LoZ95UIeJLVLHjTe5"],
  [
    "correct horse battery staple, and more than sixty four bytes of it in all, really",
    "$5$rounds=1000$f2xVmNqiGeMLI8k4$rzzzg3/Tln1XRPx0G49gdyC9V.tb6W1Jm9ho89nhe39",
  ],
  ["ünï", "$5$rounds=1000$mHYOHUxTH4VS42Ic$OI03Dnl5KEbaCEpcTNroAvglSV9k8MaTDiPoPEN7mA8"],
])("the hash of %p is what crypt(3) computes", (password, hash) => {
  expect(hashPassword(password, `seed${password}`)).toBe(hash);
  expect(isPasswordHash(hash)).toBe(true);
});

test("the seed decides the salt", () => {
  expect(hashPassword("x", "a")).toBe(hashPassword("x", "a"));
  expect(hashPassword("x", "a")).not.toBe(hashPassword("x", "b"));
});
