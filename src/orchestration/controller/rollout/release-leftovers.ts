import type { ReleaseRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { outlive } from "../state/one-off.ts";
import { codeOf, releaseContainers, stepsOf, timeoutOf } from "./release-step.ts";

/**
 * Before a release runs a command: those of other releases of its resource, left running by a server that ended, are
 * waited for, at most until their time is up. A migration is never cut off, and never has company.
 */
export async function clearTheWay(context: Context, release: ReleaseRecord, leave: AbortSignal): Promise<void> {
  const found = await context.engine.observe(releaseContainers(release));
  const done = new Set(
    stepsOf(release).flatMap((step) => (codeOf(release, step) === undefined ? [] : [step.nameFor(release)])),
  );
  for (const pod of found.filter(({ identity }) => identity?.role === "release")) {
    const owner = pod.identity?.releaseId ?? "";
    if (owner === release.id && !done.has(pod.name)) continue;
    const timeoutMs = timeoutOf(context.store.releases.get(owner));
    await outlive(context, pod, { timeoutMs, leave });
  }
}
