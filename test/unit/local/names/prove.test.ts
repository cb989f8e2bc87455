import { expect, test } from "bun:test";
import { freeAddress } from "../../../../src/local/names/prove.ts";

test("the question comes from the last address that nobody has", () => {
  expect(freeAddress("172.18.0.0/16", ["172.18.0.1"])).toBe("172.18.255.254/16");
  expect(freeAddress("10.0.0.0/29", ["10.0.0.1", "10.0.0.6", "10.0.0.5"])).toBe("10.0.0.4/29");
  const all = [1, 2, 3, 4, 5, 6].map((last) => `10.0.0.${last}`);
  expect(freeAddress("10.0.0.0/29", all)).toBeUndefined();
  expect(freeAddress("10.0.0.0/31", [])).toBeUndefined();
  expect(freeAddress("fd00::/64", [])).toBeUndefined();
});
