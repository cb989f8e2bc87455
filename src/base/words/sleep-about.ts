import type { SteadyClock } from "./clock.ts";

/** Sleeps of looks end on multiples of this. */
const stepMs = 1_000;

interface Wake {
  sleepers: number;
  /** Nobody sleeps until then any more. */
  over: AbortController;
  /** Resolves at its time. */
  come: Promise<void>;
}

const wakesOf = new WeakMap<SteadyClock, Map<number, Wake>>();

/**
 * Sleeps for about `ms`, or until `signal` aborts. For loops that look at something again and again: from a second on, such
 * sleeps are up to half a second shorter or longer, and all end together, on whole seconds, with one timer. Each time that
 * an idle server wakes costs more than most looks.
 */
export async function sleepAbout(clock: SteadyClock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  if (ms < stepMs) return clock.sleep(ms, signal);
  const wakes = wakesOf.get(clock) ?? new Map<number, Wake>();
  wakesOf.set(clock, wakes);
  const at = Math.round((clock.steady() + ms) / stepMs) * stepMs;
  const wake = wakes.get(at) ?? newWake(clock, at);
  wakes.set(at, wake);
  wake.sleepers += 1;
  const left = Promise.withResolvers<void>();
  const leave = () => left.resolve();
  signal.addEventListener("abort", leave, { once: true });
  await Promise.race([wake.come, left.promise]);
  signal.removeEventListener("abort", leave);
  wake.sleepers -= 1;
  if (wake.sleepers > 0) return;
  wake.over.abort();
  if (wakes.get(at) === wake) wakes.delete(at);
}

function newWake(clock: SteadyClock, at: number): Wake {
  const over = new AbortController();
  // A timer that fires a fraction too early would find the same second again.
  return { sleepers: 0, over, come: clock.sleep(Math.ceil(at - clock.steady()), over.signal) };
}
