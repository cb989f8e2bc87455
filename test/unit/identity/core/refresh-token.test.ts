import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  readRefreshToken,
  rotatedChain,
  signInGeneration,
  standingOf,
  writeRefreshToken,
} from "../../../../src/identity/core/refresh-token.ts";

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

const grace = { graceMs: 30_000, holdMaxMs: 600_000 };

describe("the place of a token in its chain", () => {
  // The sign-in token was used at 0, the first refresh token at 1 000 and so on.
  const chain = { generation: 3, spent: [0, 1_000, 20_000, 25_000], sharedAt: undefined };

  test.each([
    [3, 25_000, "current"],
    [3, 1e15, "current"],
    [2, 54_999, "repeated"],
    [2, 55_000, "spent"],
    [1, 49_999, "repeated"],
    [1, 50_000, "spent"],
    [0, 30_999, "repeated"],
    [0, 31_000, "spent"],
    [signInGeneration, 29_999, "repeated"],
    [signInGeneration, 30_000, "spent"],
    [-2, 25_000, "spent"],
    [4, 25_000, "unknown"],
  ] as const)("generation %p at %p is %s", (generation, now, expected) => {
    expect(standingOf(generation, chain, { now, ...grace })).toBe(expected);
  });

  test("a token whose first use is not on record was spent long ago", () => {
    expect(standingOf(0, { ...chain, spent: [25_000] }, { now: 25_001, ...grace })).toBe("spent");
  });

  test.each([
    [25_001, 25_001, "held"],
    [25_001, 55_000, "held"],
    [25_001, 55_001, "current"],
    [600_000, 624_999, "held"],
    [600_000, 625_000, "current"],
  ] as const)("a token that was shared at %p is at %p %s", (sharedAt, now, expected) => {
    expect(standingOf(3, { ...chain, sharedAt }, { now, ...grace })).toBe(expected);
    expect(standingOf(4, { ...chain, sharedAt }, { now, ...grace })).toBe("unknown");
  });
});

describe("a clock that was an hour ahead and is right again", () => {
  const hour = 3_600_000;
  // The sign-in token was used an hour ahead, the first refresh token since.
  const chain = { generation: 1, spent: [hour, 1_000], sharedAt: undefined };

  test.each([
    [signInGeneration, 2_000, "unknown"],
    [0, 2_000, "repeated"],
    [0, 31_000, "spent"],
    [1, 2_000, "current"],
  ] as const)("generation %p at %p is %s", (generation, now, expected) => {
    expect(standingOf(generation, chain, { now, ...grace })).toBe(expected);
  });

  test("a token that was shared then is exchanged, and does not stay for an hour", () => {
    const shared = { generation: 0, spent: [hour], sharedAt: hour + 1 };
    expect(standingOf(0, shared, { now: 1_000, ...grace })).toBe("current");
    // A step of seconds is a clock that is being adjusted.
    expect(standingOf(0, shared, { now: hour - 5_000, ...grace })).toBe("held");
  });

  test("the places of tokens in a chain stay right when such times go", () => {
    const { spent } = rotatedChain(
      { generation: 2, spent: [500, hour, 1_000], sharedAt: undefined },
      {
        ...{ now: 31_500, ...grace, spentMax: 10 },
      },
    );
    expect(spent).toEqual([hour, 1_000, 31_500]);
  });
});

test("a chain goes on by one, keeps the first uses that the grace covers, and no more than so many", () => {
  const chain = { generation: 3, spent: [0, 1_000, 20_000], sharedAt: 20_000 };
  const next = (now: number, spentMax = 10) => rotatedChain(chain, { now, ...grace, spentMax });
  expect(next(20_001)).toEqual({ generation: 4, spent: [0, 1_000, 20_000, 20_001], sharedAt: undefined });
  expect(next(31_000)).toEqual({ generation: 4, spent: [20_000, 31_000], sharedAt: undefined });
  expect(next(1e9)).toEqual({ generation: 4, spent: [1e9], sharedAt: undefined });
  expect(next(20_001, 2)).toEqual({ generation: 4, spent: [20_000, 20_001], sharedAt: undefined });
});
