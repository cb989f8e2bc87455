import { expect, test } from "bun:test";
import { isPasswordHash } from "../../../../src/base/pure/password-hash.ts";

/** Made with `openssl passwd -5` and `-6`, of "x". */
const sha256 = "$5$abc$sCOGUciM.GdmYMCUvmUcgu03oRH87O0clF96.9mwWGB";
const sha512 = "$6$abc$K4v3HcZ8yAmpRfxML6S46NCcqy9r4/KdbQpFvqSWsBf4dgySOEOo1DHJTrmn2BsJK2aNmPN8Tfb826D2o9.z51";
const withRounds = (rounds: number) => sha256.replace("$5$", `$5$rounds=${rounds}$`);

test.each([sha256, sha512, withRounds(1_000), withRounds(10_000)])("%s is a hash", (text) => {
  expect(isPasswordHash(text)).toBe(true);
});

test.each([
  "",
  "secret",
  "$5$abc$short",
  sha256.replace("$5$", "$6$"),
  sha512.replace("$6$", "$5$"),
  withRounds(10_001),
  `${sha256}\n`,
  "$1$abc$OGyl6dDvZCDiGmIVbeuCq/",
  "$2b$12$z69jnQyRbMYcSio6QjpFq.doCjQE0N9EU0Jqsb2pzVt3UdVZhBpne",
])("%p is not one", (text) => {
  expect(isPasswordHash(text)).toBe(false);
});
