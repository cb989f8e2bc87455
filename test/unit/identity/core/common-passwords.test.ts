import { expect, test } from "bun:test";
import { isCommonPassword } from "../../../../src/identity/core/common-passwords.ts";

test.each([
  "password",
  "Password",
  "PASSWORD",
  "p@ssw0rd",
  "P4$$w0rd!",
  "password1",
  "password123",
  "Password2026!",
  "!!password!!",
  "password123456789",
  "passwort",
  "        ",
  "\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000",
  "aaaaaaaa",
  "abababab",
  "12345678",
  "1234567890",
  "87654321",
  "9876543210",
  "abcdefgh",
  "123123123",
  "12341234",
  "abcabcabc",
  "qwertyuiop",
  "qwerty123",
  "iloveyou",
  "sunshine1",
  "letmein!",
  "welc0me2024",
  "administrator",
  "１２３４５６７８",
  "pass word",
  "Correct Horse Battery Staple",
])("%p is common", (password) => {
  expect(isCommonPassword(password)).toBe(true);
});

test.each([
  "correct horse battery",
  "sunshine7381946152",
  "kT9#vz2!",
  "tr0ub4dor&3",
  "purple monkey dishwasher",
  "my dragon eats lemons",
  "48302917",
  "20260718",
  "Gartenzaun im Regen",
  "пароль надёжный",
  "sesame-street-corner",
])("%p is not", (password) => {
  expect(isCommonPassword(password)).toBe(false);
});
