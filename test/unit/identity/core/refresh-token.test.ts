import { expect, test } from "bun:test";
import fc from "fast-check";
import { readRefreshToken, standingOf, writeRefreshToken } from "../../../../src/identity/core/refresh-token.ts";

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test("what is written is read, whatever the prefix", () => {
  fc.assert(
    fc.property(
      bytes(16),
      fc.nat(0xffffffff),
      bytes(32),
      fc.string({ maxLength: 64 }),
      (chain, generation, mac, prefix) => {
        const read = readRefreshToken(writeRefreshToken(prefix, { chain, generation, mac }));
        expect(read?.generation).toBe(generation);
        expect(Buffer.from(read?.chain ?? []).equals(chain)).toBe(true);
        expect(Buffer.from(read?.mac ?? []).equals(mac)).toBe(true);
      },
    ),
  );
});

test("any other text is none", () => {
  const token = writeRefreshToken("", { chain: new Uint8Array(16), generation: 0, mac: new Uint8Array(32) });
  expect(token).toHaveLength(70);
  for (const text of ["", token.slice(1), `${token.slice(0, -1)}B`, `${token}=`, `${token} `, "x".repeat(2_000)]) {
    expect([text, readRefreshToken(text)]).toEqual([text, undefined]);
  }
});

const chain = { generation: 5, rotatedAt: 1_000 };

test.each([
  [5, 1_000, "current"],
  [5, 1e15, "current"],
  [4, 1_000, "repeated"],
  [4, 30_999, "repeated"],
  [4, 31_000, "spent"],
  [3, 1_000, "spent"],
  [0, 1_000, "spent"],
  [6, 1_000, "unknown"],
] as const)("generation %p at %p is %s", (generation, now, expected) => {
  expect(standingOf(generation, chain, { now, graceMs: 30_000 })).toBe(expected);
});
