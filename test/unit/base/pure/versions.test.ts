import { expect, test } from "bun:test";
import { compareVersions } from "../../../../src/base/pure/versions.ts";

test.each([
  ["0.1.0", "0.1.0 (commit: 0123456789ab)", 0],
  ["0.10.0", "0.9.9", 1],
  ["0.1.0", "0.1.1", -1],
  ["1.0.0", "0.99.99 (commit: x)", 1],
  ["0.2.0-rc.1", "0.2.0", -1],
  ["0.2.0", "0.2.0-rc.1 (commit: x)", 1],
  ["0.2.0-rc.1", "0.2.0-rc.2", -1],
  ["0.2.0-rc.9", "0.2.0-rc.10 (commit: x)", -1],
  ["0.2.0-rc", "0.2.0-rc.1", -1],
  ["0.2.0-1", "0.2.0-alpha", -1],
  ["0.2.0-alpha.2", "0.2.0-beta.1", -1],
  ["an executable that does not run", "0.0.0", -1],
])("%s and %s", (one, other, sign) => {
  expect(Math.sign(compareVersions(one, other))).toBe(sign);
  expect(Math.sign(compareVersions(other, one))).toBe(sign === 0 ? 0 : -sign);
});
