import type { Context } from "./context.ts";
import type { Pod } from "./pod.ts";

/** Long enough for whoever follows readiness to see that the pod is leaving. */
const noticeMs = 1_500;
const pollMs = 250;

/**
 * Gives a pod that leaves (see `leaving.ts`), and so is not ready any more, up to `drainMs` to finish what it is serving.
 * Ends early when no connection is open. A pod that listens on nothing has nothing to finish. False when the
 * server stops meanwhile: then the pod stays, for the next one to decide.
 */
export async function drain(context: Context, pod: Pod, drainMs: number): Promise<boolean> {
  const { clock, runtime, closing } = context;
  const deadline = clock.steady() + drainMs;
  const first = await runtime.connections(pod.id).catch(() => undefined);
  if (first?.listening === false) return true;
  if (first === undefined && !(await isRunning(context, pod))) return true;
  await clock.sleep(Math.min(noticeMs, drainMs), closing);
  while (clock.steady() < deadline && !closing.aborted) {
    const seen = await runtime.connections(pod.id).catch(() => undefined);
    if (seen === undefined || seen.established === 0) break;
    await clock.sleep(Math.min(pollMs, deadline - clock.steady()), closing);
  }
  return !closing.aborted;
}

/** It may have ended since it was listed: then there is nothing to wait for. */
async function isRunning({ runtime }: Context, { id }: Pod): Promise<boolean> {
  const detail = await runtime.inspect(id).catch(() => undefined);
  return detail?.state === "running";
}
