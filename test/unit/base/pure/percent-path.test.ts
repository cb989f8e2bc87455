import { expect, test } from "bun:test";
import { plainPath } from "../../../../src/base/pure/percent-path.ts";

test.each([
  ["/plain/path", "/plain/path"],
  ["/%68ealth", "/health"],
  ["/a%2Db%5F%2e%7e%30", "/a-b_.~0"],
  ["/a%2fb", "/a%2Fb"],
  ["/%c3%a9", "/%C3%A9"],
  ["/100%", "/100%"],
  ["/%zz%4", "/%zz%4"],
  ["/%2561", "/%2561"],
  ["/%2%65/x", "/%2%65/x"],
])("%s is %s, and stays that", (path, plain) => {
  expect(plainPath(path)).toBe(plain);
  expect(plainPath(plain)).toBe(plain);
});
