import { Failure } from "../../../base/wire/failure.ts";
import type { Context } from "../state/context.ts";
import type { IngressGate } from "../state/ingress-gate.ts";

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

/**
 * Fails `unavailable` while the ingress leads to the pod and takes no change over: without the pod, visitors would be sent
 * to nothing, however many replicas are ready in its place. Resolves with false when the server ends meanwhile.
 */
export async function mayLeave(context: Context, { id, name }: { id: string; name: string }): Promise<boolean> {
  const { ingressGate: gate, closing } = context;
  if (gate?.leadsTo(id) !== true || (await gate.caughtUp(closing))) return true;
  if (closing.aborted) return false;
  // It was taken out, or the ingress was stopped, in the meantime.
  if (!gate.leadsTo(id)) return true;
  throw new Failure(
    "unavailable",
    `${name} stays: the ingress leads to it and takes no change over: ${whyBehind(gate)}`,
    {
      reason: "IngressFailing",
    },
  );
}

/**
 * What the ingress does not lead to although it should, for people; undefined when it leads to all pods of these, or to
 * none on purpose.
 */
export async function lackingInIngress(
  context: Context,
  pods: readonly { id: string; name: string }[],
): Promise<string | undefined> {
  const { ingressGate: gate, closing } = context;
  if (gate === undefined || (await gate.caughtUp(closing))) return undefined;
  const lacking = pods.filter(({ id }) => gate.lacks(id));
  if (lacking.length === 0) return undefined;
  return `the ingress does not lead to ${lacking.map(({ name }) => name).join(", ")} yet: ${whyBehind(gate)}`;
}

function whyBehind({ problem }: Pick<IngressGate, "problem">): string {
  return problem() ?? "it did not take the change in time";
}
