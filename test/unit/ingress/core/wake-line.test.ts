import { expect, test } from "bun:test";
import { parseWakeLine } from "../../../../src/ingress/core/wake-line.ts";

test.each([
  ["the proxy's line", "wake p7 shop.test\n", { backend: "p7", host: "shop.test" }],
  ["another word", "woke p7 shop.test", undefined],
  ["one that was cut off", "wake p7", undefined],
  ["more than there should be", "wake p7 shop.test x", undefined],
  ["nothing", "", undefined],
])("%s", (_, text, line) => expect(parseWakeLine(text)).toEqual(line));
