import type { Receipt, Traffic } from "../../orchestration/api/receipt.ts";

/** `412 requests during the switch, 0 failed, p99 38 ms → 41 ms`; empty when there was no request. */
export function receiptText({ before, during, after }: Receipt): string {
  if (during.requests === 0) return "";
  const requests = during.requests === 1 ? "1 request" : `${during.requests} requests`;
  const parts = [`${requests} during the switch`, `${during.failed} failed`, p99Text(before, during)];
  if (after !== undefined && after.requests > 0) parts.push(`${after.failed} of ${after.requests} failed after it`);
  return parts.filter((part) => part !== "").join(", ");
}

function p99Text({ p99_ms: before }: Traffic, { p99_ms: during }: Traffic): string {
  if (during === undefined) return "";
  return before === undefined ? `p99 ${during} ms` : `p99 ${before} ms → ${during} ms`;
}
