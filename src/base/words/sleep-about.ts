import type { SteadyClock } from "./clock.ts";

/** Sleeps of at least this end on multiples of it: the first that fits. */
const stepsMs = [1_000, 500];

interface Wake {
  sleepers: number;
  /** No sleeper waits for that time any more. */
  over: AbortController;
  /** Resolves at its time. */
  come: Promise<void>;
  isOver: boolean;
}

const wakesOf = new WeakMap<SteadyClock, Map<number, Wake>>();

/**
 * Sleeps for about `ms`, or until `signal` aborts; resolves with how much later than planned it ended. For loops that look at
 * something again and again: such sleeps are up to half a step shorter or longer, and all end together, on whole seconds
 * (below a second: half ones), with one timer. Each time that an idle server wakes costs more than most looks.
 */
export async function sleepAbout(clock: SteadyClock, ms: number, signal: AbortSignal): Promise<number> {
  const stepMs = stepsMs.find((step) => step <= ms);
  const exactly = clock.steady() + ms;
  const at = stepMs === undefined ? exactly : Math.round(exactly / stepMs) * stepMs;
  if (stepMs === undefined) await clock.sleep(ms, signal);
  else if (!signal.aborted) await sleepTogether(clock, at, signal);
  return Math.max(0, clock.steady() - at);
}

async function sleepTogether(clock: SteadyClock, at: number, signal: AbortSignal): Promise<void> {
  const wakes = wakesOf.get(clock) ?? new Map<number, Wake>();
  wakesOf.set(clock, wakes);
  const wake = wakes.get(at) ?? newWake(clock, at);
  wakes.set(at, wake);
  wake.sleepers += 1;
  const left = Promise.withResolvers<void>();
  const leave = () => left.resolve();
  signal.addEventListener("abort", leave, { once: true });
  await Promise.race([wake.come, left.promise]);
  signal.removeEventListener("abort", leave);
  wake.sleepers -= 1;
  if (wakes.get(at) === wake && (wake.isOver || wake.sleepers === 0)) wakes.delete(at);
  if (wake.sleepers === 0 && !wake.isOver) wake.over.abort();
}

function newWake(clock: SteadyClock, at: number): Wake {
  const over = new AbortController();
  // A timer that fires a fraction too early would find the same second again.
  const come = clock.sleep(Math.ceil(at - clock.steady()), over.signal);
  const wake: Wake = { sleepers: 0, over, come, isOver: false };
  wake.come = come.then(() => {
    wake.isOver = true;
  });
  return wake;
}
