/**
 * A release id: base36 of unix seconds and two characters drawn from `bytes` (two of them), so that ids sort by time
 * (docs/contract/orchestration.md, 4.8).
 */
export function releaseId(nowMs: number, bytes: Uint8Array): string {
  const seconds = Math.floor(nowMs / 1000)
    .toString(36)
    .padStart(7, "0");
  const [first = 0, second = 0] = bytes;
  return `${seconds}${(first % 36).toString(36)}${(second % 36).toString(36)}`;
}
