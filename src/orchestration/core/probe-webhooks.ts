import type { ProbeNews } from "./webhook-payload.ts";

/** An earlier webhook call about the same probe of the same pod. */
export interface ProbeCall {
  id: string;
  transition: ProbeNews["transition"];
  status: "waiting" | "delivered" | "dropped";
  attempts: number;
  /** For a message that was sent: about when. Epoch milliseconds. */
  nextAt: number;
}

interface ProbeDecision {
  /** When to tell it; undefined: there is nothing new to tell. */
  sendAt: number | undefined;
  /** Calls that were held back and are no longer true. */
  cancel: string[];
}

/** The same transition is reported at most once in this time; a second one waits for the rest of it. */
export const sameTransitionMs = 60_000;

/**
 * Whether a transition of a probe is reported: not when the receiver knows it already, a recovery only after a failure,
 * and what comes and goes within the minute not at all. Decided from the calls so far, newest first, so that it
 * survives a restart of the server.
 */
export function decideProbeCall(
  calls: readonly ProbeCall[],
  transition: ProbeNews["transition"],
  now: number,
): ProbeDecision {
  const cancel = calls.filter((call) => isHeld(call, now) && call.transition !== transition).map(({ id }) => id);
  const counted = calls.filter((call) => !cancel.includes(call.id) && !wasNeverSent(call));
  const told = counted[0]?.transition;
  if (told === transition || (transition === "recovery" && told === undefined)) return { sendAt: undefined, cancel };
  const same = counted.find((call) => call.transition === transition);
  const earliest = same === undefined ? now : same.nextAt + sameTransitionMs;
  // No longer than the whole minute, where the clock has jumped back meanwhile.
  return { sendAt: Math.min(Math.max(now, earliest), now + sameTransitionMs), cancel };
}

function isHeld({ status, attempts, nextAt }: ProbeCall, now: number): boolean {
  return status === "waiting" && attempts === 0 && nextAt > now;
}

function wasNeverSent({ status, attempts }: ProbeCall): boolean {
  return status === "dropped" && attempts === 0;
}
