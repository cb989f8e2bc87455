import { Failure } from "../api/failure.ts";
import type { ManifestKey } from "../api/manifest.ts";
import type { Context } from "./context.ts";
import type { Pod } from "./pod.ts";
import { runContainerName } from "./run-record.ts";
import { stopGently } from "./stop.ts";

/**
 * Ends and removes containers of a job that no run under way needs: of runs that have ended, of earlier tries, of
 * a job that was deleted and applied again. A row is always written before its container is made, so that a container
 * without one is nobody's.
 */
export async function removeLeftovers(context: Context, key: ManifestKey): Promise<void> {
  if (context.store.collectionHeld) return;
  const pods = context.pods.of(key).filter(({ role }) => role === "job");
  if (pods.length === 0) return;
  const needed = new Set(context.store.runs.unfinishedOf(key).map(runContainerName));
  await Promise.all(pods.filter(({ name }) => !needed.has(name)).map((pod) => endContainer(context, pod)));
}

async function endContainer(context: Context, { id, state }: Pod): Promise<void> {
  try {
    if (state !== "exited" && state !== "created") await stopGently(context, id);
    await context.runtime.remove(id);
  } catch (error) {
    // Whoever followed it has removed it.
    if (!(error instanceof Failure) || error.code !== "not_found") throw error;
  }
}
