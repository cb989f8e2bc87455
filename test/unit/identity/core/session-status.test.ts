import { expect, test } from "bun:test";
import { sessionStatus } from "../../../../src/identity/core/session-status.ts";

const session = { revokedAt: undefined, expiresAt: 1_000_000, lastActivityAt: 0 };

test.each([
  ["stands until its lifetime ends", {}, 999_999, null, { status: "active" }],
  ["ends then", {}, 1_000_000, null, { status: "expired", reason: "lifetime" }],
  ["may have none", { expiresAt: undefined }, 1e15, null, { status: "active" }],
  ["may be idle for a while", {}, 59_999, 1, { status: "active" }],
  ["not longer", {}, 60_000, 1, { status: "expired", reason: "idle" }],
  ["counts from its last activity", { lastActivityAt: 50_000 }, 109_999, 1, { status: "active" }],
  ["is revoked first of all", { revokedAt: 1 }, 1e15, 1, { status: "revoked" }],
] as const)("a session %s", (_name, change, now, idleMinutes, expected) => {
  expect(sessionStatus({ ...session, ...change }, { now, idleMinutes })).toEqual(expected);
});
