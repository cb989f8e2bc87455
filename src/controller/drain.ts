import type { Context } from "./context.ts";
import type { Pod } from "./pod-table.ts";

/** Long enough for whoever follows readiness to see that the pod is leaving. */
const noticeMs = 1_500;
const pollMs = 250;

/**
 * Takes a pod out of service: it is not ready any more from this moment, and has up to `drainMs` to finish what it is
 * serving. Ends early when no connection is open. A pod that listens on nothing has nothing to finish.
 */
export async function drain(context: Context, pod: Pod, drainMs: number): Promise<void> {
  const { clock, runtime } = context;
  pod.leaving = true;
  const deadline = clock.now() + drainMs;
  const first = await runtime.connections(pod.id).catch(() => undefined);
  if (first?.listening === false) return;
  if (first === undefined && !(await isRunning(context, pod))) return;
  await clock.sleep(Math.min(noticeMs, drainMs));
  while (clock.now() < deadline) {
    const seen = await runtime.connections(pod.id).catch(() => undefined);
    if (seen === undefined || seen.established === 0) return;
    await clock.sleep(Math.min(pollMs, deadline - clock.now()));
  }
}

/** It may have ended since it was listed: then there is nothing to wait for. */
async function isRunning({ runtime }: Context, { id }: Pod): Promise<boolean> {
  const detail = await runtime.inspect(id).catch(() => undefined);
  return detail?.state === "running";
}
