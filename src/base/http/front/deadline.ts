/** One movable deadline. Moving it later is free: the running timer notices when it fires, so a busy connection sets no timers. */
export interface Deadline {
  /** Calls `onPassed` in `ms` milliseconds unless set again or cleared before. */
  set(ms: number): void;
  clear(): void;
  /** For good: also frees the timer. */
  cancel(): void;
}

export function createDeadline(onPassed: () => void): Deadline {
  let passesAt = Number.POSITIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let firesAt = Number.POSITIVE_INFINITY;

  const arm = (now: number) => {
    clearTimeout(timer);
    firesAt = passesAt;
    timer = setTimeout(fire, Math.max(passesAt - now, 0));
  };
  const fire = () => {
    timer = undefined;
    firesAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    if (passesAt === Number.POSITIVE_INFINITY) return;
    if (passesAt > now) return arm(now);
    passesAt = Number.POSITIVE_INFINITY;
    onPassed();
  };
  return {
    set(ms) {
      const now = performance.now();
      passesAt = now + ms;
      if (timer === undefined || passesAt < firesAt) arm(now);
    },
    clear() {
      passesAt = Number.POSITIVE_INFINITY;
    },
    cancel() {
      passesAt = Number.POSITIVE_INFINITY;
      clearTimeout(timer);
    },
  };
}
