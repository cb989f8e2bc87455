export type SessionStatus =
  { status: "active" } | { status: "revoked" } | { status: "expired"; reason: "lifetime" | "idle" };

interface SessionTimes {
  revokedAt: number | undefined;
  expiresAt: number | undefined;
  lastActivityAt: number;
}

/** Whether a session still stands at `now`; times are epoch milliseconds. */
export function sessionStatus(
  session: SessionTimes,
  { now, idleMinutes }: { now: number; idleMinutes: number | null },
): SessionStatus {
  if (session.revokedAt !== undefined) return { status: "revoked" };
  if (session.expiresAt !== undefined && session.expiresAt <= now) return { status: "expired", reason: "lifetime" };
  const idle = idleMinutes !== null && session.lastActivityAt + idleMinutes * 60_000 <= now;
  return idle ? { status: "expired", reason: "idle" } : { status: "active" };
}
