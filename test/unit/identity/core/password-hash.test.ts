import { expect, test } from "bun:test";
import { parsePasswordHash } from "../../../../src/identity/core/password-hash.ts";

const hash53 = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

test.each([
  ["$argon2id$v=19$m=65536,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g", "argon2"],
  ["$argon2i$v=19$m=4096,t=3,p=1$c2FsdHNhbHQ$aGFzaGhhc2g", "argon2"],
  [`$2b$12$${hash53}`, "bcrypt"],
  ["$scrypt$ln=15,r=8,p=1$c2FsdHNhbHQ$aGFzaGhhc2g", "scrypt"],
])("%p is %s", (text, kind) => {
  expect(parsePasswordHash(text)?.kind).toBe(kind as "argon2");
});

test("the spellings of bcrypt are one computation", () => {
  for (const letter of ["a", "b", "y"]) {
    expect(parsePasswordHash(`$2${letter}$10$${hash53}`)).toEqual({ kind: "bcrypt", text: `$2b$10$${hash53}` });
  }
});

test("scrypt comes apart into its parameters", () => {
  const parsed = parsePasswordHash("$scrypt$ln=4,r=8,p=2$c2FsdA$aGFzaA");
  expect(parsed).toEqual({
    kind: "scrypt",
    n: 16,
    r: 8,
    p: 2,
    salt: new TextEncoder().encode("salt"),
    hash: new TextEncoder().encode("hash"),
  });
});

test.each([
  "",
  "plain text",
  "5f4dcc3b5aa765d61d8327deb882cf99",
  "$argon2id$v=16$m=65536,t=2,p=1$c2FsdA$aGFzaA",
  "$argon2id$v=19$m=4194304,t=2,p=1$c2FsdA$aGFzaA",
  "$argon2id$v=19$m=65536,t=1000,p=1$c2FsdA$aGFzaA",
  "$argon2id$v=19$m=65536,t=0,p=1$c2FsdA$aGFzaA",
  `$2b$31$${hash53}`,
  `$2b$03$${hash53}`,
  `$2x$10$${hash53}`,
  "$scrypt$ln=22,r=8,p=1$c2FsdA$aGFzaA",
  "$scrypt$ln=15,r=8,p=99$c2FsdA$aGFzaA",
  "$scrypt$ln=0,r=8,p=1$c2FsdA$aGFzaA",
  `$argon2id$v=19$m=65536,t=2,p=1$c2FsdA$${"a".repeat(600)}`,
])("%p is refused: no hash, or one that costs too much to check", (text) => {
  expect(parsePasswordHash(text)).toBeUndefined();
});
