import type { Context } from "../state/context.ts";

const pollMs = 250;

interface LeavingPod {
  id: string;
  /** What is under way is waited for this long, in milliseconds. */
  waitMs: number;
  /** Ends the wait; when left out, the end of the server does. */
  giveUp?: AbortSignal;
}

/**
 * Marks a pod as leaving without a visitor noticing: those that take its place are in the ingress before, nothing new is
 * sent to it after, and what it has begun is finished first, for a while.
 */
export async function leaveIngress(context: Context, { id, waitMs, giveUp }: LeavingPod): Promise<void> {
  const { ingressGate: gate, leaving, clock } = context;
  const closing = giveUp ?? context.closing;
  const isServed = gate?.serves(id) === true;
  if (isServed) await gate.caughtUp(closing);
  leaving.add(id);
  if (!isServed || !(await gate.caughtUp(closing))) return;
  const until = clock.steady() + waitMs;
  while (!closing.aborted && clock.steady() < until && (await gate.isBusy(id).catch(() => false))) {
    await clock.sleep(pollMs, closing);
  }
}
