import { expect, test } from "bun:test";
import { receiptText } from "../../../../src/client/text/receipt-text.ts";

const quiet = { seconds: 60, requests: 0, failed: 0 };
const before = { seconds: 60, requests: 900, failed: 1, p50_ms: 4, p99_ms: 38 };
const during = { seconds: 12, requests: 412, failed: 0, p50_ms: 5, p99_ms: 41 };

test("the figures of the switch, compared with the time before", () => {
  expect(receiptText({ before, during })).toBe("412 requests during the switch, 0 failed, p99 38 ms → 41 ms");
});

test("without traffic before there is nothing to compare, without any there is nothing to say", () => {
  expect(receiptText({ before: quiet, during: { ...during, requests: 1 } })).toBe(
    "1 request during the switch, 0 failed, p99 41 ms",
  );
  expect(receiptText({ before, during: quiet })).toBe("");
});

test("what came after is added once it is known", () => {
  const after = { seconds: 30, requests: 500, failed: 3, p50_ms: 5, p99_ms: 40 };
  expect(receiptText({ before, during, after })).toEndWith(", 3 of 500 failed after it");
});
