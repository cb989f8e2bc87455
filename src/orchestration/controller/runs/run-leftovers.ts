import { Failure } from "../../../base/wire/failure.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";
import { type Pod, stopGently } from "../state/pod.ts";
import { runContainerName } from "./run-record.ts";

/**
 * Ends and removes containers of a job that belong to no run of the history: of runs that it has cut, of earlier tries,
 * of a job that was deleted and applied again. A row is always written before its container is made, so that a container
 * without one belongs to no run. Of long histories only the newest containers stay.
 */
export async function removeLeftovers(context: Context, key: ManifestKey): Promise<void> {
  const pods = context.pods.of(key).filter(({ role }) => role === "job");
  if (pods.length === 0 || context.store.collectionHeld) return;
  const { runs } = context.store;
  const underWay = new Set(runs.unfinishedOf(key).map(runContainerName));
  const recorded = new Set(runs.list(key, context.limits.runContainersKept).map(runContainerName));
  await Promise.all(
    pods.map(async (pod) => {
      if (underWay.has(pod.name)) return;
      if (!recorded.has(pod.name) || pod.state === "created") await endContainer(context, pod);
      // The server was killed between the record of the end and the end.
      else if (pod.state !== "exited") await stopGently(context.engine, pod);
    }),
  );
}

async function endContainer({ engine }: Context, pod: Pod): Promise<void> {
  try {
    if (pod.state !== "exited" && pod.state !== "created") await stopGently(engine, pod);
    await engine.remove(pod);
  } catch (error) {
    // The code that followed it has removed it.
    if (!(error instanceof Failure) || error.code !== "not_found") throw error;
  }
}
