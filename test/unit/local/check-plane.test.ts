import { expect, test } from "bun:test";
import { checkPlane } from "../../../src/local/check-ingress.ts";

const off = { kind: "off" as const };

test.each([
  ["", off, "ok", "turned off"],
  ["127.0.0.1:8687", off, "ok", "this machine alone reaches it"],
  ["0.0.0.0:8687", { kind: "self-signed" as const }, "ok", "with TLS (self-signed)"],
  ["0.0.0.0:8687", off, "warn", "other machines reach 0.0.0.0:8687 without TLS"],
] as const)("at %p with %j the plane is %s", (observabilityAddr, observabilityTls, status, detail) => {
  const check = checkPlane({ observabilityAddr, observabilityTls });
  expect([check.status, check.detail]).toEqual([status, expect.stringContaining(detail)]);
  expect(check.mend === undefined).toBe(status === "ok");
});
