/** A length of time in its largest fitting unit: `45s`, `3m`, `5h`, `12d`. */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 120 * 60) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3_600) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Time since an ISO 8601 instant; `-` without one. */
export function ageOf(iso: string | undefined, now: number): string {
  const at = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(at) ? "-" : shortDuration(now - at);
}

/** An ISO 8601 instant as `2026-01-31 13:05:22Z`. */
export function timeText(iso: string): string {
  return iso.replace("T", " ").replace(/(?:\.\d+)?(?:Z|\+00:00)$/, "Z");
}

/** When something is tried next, which may be at this moment. */
export function retryText(at: string, now: number): string {
  return Date.parse(at) - now < 1_000 ? "now" : `in ${ageOf(new Date(now).toISOString(), Date.parse(at))}`;
}
