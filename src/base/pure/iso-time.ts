/** Epoch milliseconds as the APIs have them: ISO 8601, UTC. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
