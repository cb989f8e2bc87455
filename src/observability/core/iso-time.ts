/** Epoch milliseconds as the wire has them: RFC 3339, UTC. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
