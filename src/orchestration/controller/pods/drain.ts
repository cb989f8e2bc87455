import type { Context } from "../state/context.ts";
import type { Pod } from "../state/pod.ts";

/** Long enough for the followers of readiness to see that the pod is leaving. */
const noticeMs = 1_500;
const pollMs = 250;
/**
 * A connection that the pod was too busy to accept is tried again by the client's system after a second (RFC 6298,
 * section 2): it was sent in time, and is served, too.
 */
const quietMs = 1_250;

interface Draining {
  drainMs: number;
  giveUp: AbortSignal;
}

/**
 * Gives a pod that leaves (see `leaving.ts`), and so is not ready any more, up to `drainMs` to finish what it is serving.
 * Ends early when no connection has been open for a moment. A pod that listens on nothing has nothing to finish. False
 * when `giveUp` aborts meanwhile, at the latest with the server: then the pod stays, and the next round decides again.
 */
export async function drain(context: Context, pod: Pod, { drainMs, giveUp }: Draining): Promise<boolean> {
  const { clock, engine } = context;
  const begun = clock.steady();
  const first = await engine.connections(pod).catch(() => undefined);
  if (first?.listening === false) return true;
  if (first === undefined && !(await isRunning(context, pod))) return true;
  let busyAt = Number.NEGATIVE_INFINITY;
  for (let seen = first; !giveUp.aborted; seen = await engine.connections(pod).catch(() => undefined)) {
    const now = clock.steady();
    if (seen !== undefined && seen.established > 0) busyAt = now;
    const noticed = now - begun >= noticeMs;
    if (now - begun >= drainMs || (noticed && (seen === undefined || now - busyAt >= quietMs))) return true;
    await clock.sleep(Math.min(pollMs, begun + drainMs - now), giveUp);
  }
  return false;
}

/** It may have ended since it was listed: then there is nothing to wait for. */
async function isRunning({ engine }: Context, pod: Pod): Promise<boolean> {
  const detail = await engine.inspect(pod).catch(() => undefined);
  return detail?.state === "running";
}
