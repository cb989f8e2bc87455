import { appKey, type LogApp } from "./line.ts";

/** A segment as far as this decision needs it. Times are epoch milliseconds. */
interface Kept {
  app: LogApp;
  path: string;
  bytes: number;
  untilMs: number;
}

export interface RetentionLimits {
  ageMs: number;
  bytesMax: number;
  appBytesMax: number;
  /** Share of the disk that stays free, 0 to 1. */
  freeShare: number;
}

interface Disk {
  freeBytes: number;
  totalBytes: number;
}

export type DropReason = "age" | "app" | "total" | "disk";

/**
 * Which segments go, oldest first: those past their age, then those above what one app may have, above what all may have,
 * and as many as the disk needs to be free enough. `ageFrom`: undefined while the clock cannot be trusted.
 */
export function toDrop<S extends Kept>(
  segments: readonly S[],
  limits: RetentionLimits,
  now: { ageFrom: number | undefined; disk: Disk },
): { segment: S; reason: DropReason }[] {
  const dropped: { segment: S; reason: DropReason }[] = [];
  const left = segments.toSorted((a, b) => a.untilMs - b.untilMs || compareWords(a.path, b.path));
  const drop = (segment: S, reason: DropReason) => {
    dropped.push({ segment, reason });
    left.splice(left.indexOf(segment), 1);
  };
  const { ageFrom, disk } = now;
  for (const segment of [...left]) if (ageFrom !== undefined && segment.untilMs < ageFrom) drop(segment, "age");
  const byApp = Map.groupBy([...left], ({ app }) => appKey(app));
  for (const own of byApp.values()) {
    let over = sum(own) - limits.appBytesMax;
    for (const segment of own) {
      if (over <= 0) break;
      drop(segment, "app");
      over -= segment.bytes;
    }
  }
  let over = sum(left) - limits.bytesMax;
  let missing = disk.totalBytes * limits.freeShare - disk.freeBytes - sum(dropped.map(({ segment }) => segment));
  for (const segment of [...left]) {
    if (over <= 0 && missing <= 0) break;
    drop(segment, over > 0 ? "total" : "disk");
    over -= segment.bytes;
    missing -= segment.bytes;
  }
  return dropped;
}

function sum(segments: readonly Kept[]): number {
  return segments.reduce((total, { bytes }) => total + bytes, 0);
}

export function compareWords(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Watches whether the clock of the machine was set: while it may be wrong, nothing is dropped for its age. `steadyMs` is
 * time that no user can set.
 */
interface ClockTrust {
  wallMs: number;
  steadyMs: number;
  /** Steady time until which ages do not count. */
  heldUntilMs: number;
}

export const clockStart = (wallMs: number, steadyMs: number): ClockTrust => ({ wallMs, steadyMs, heldUntilMs: 0 });

export function clockLook(
  before: ClockTrust,
  now: { wallMs: number; steadyMs: number },
  limits: { jumpMs: number; holdMs: number },
): ClockTrust {
  const drift = Math.abs(now.wallMs - before.wallMs - (now.steadyMs - before.steadyMs));
  const heldUntilMs = drift > limits.jumpMs ? now.steadyMs + limits.holdMs : before.heldUntilMs;
  return { ...now, heldUntilMs };
}
