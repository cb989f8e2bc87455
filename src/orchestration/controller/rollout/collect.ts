import { formatKey } from "../../api/manifest.ts";
import { orphans } from "../../core/plan/collect.ts";
import type { Context } from "../state/context.ts";
import { type Pod, stopGently } from "../state/pod.ts";
import { keyText } from "../../api/manifest-key.ts";
import { awaitsPost } from "./release-step.ts";

/** When each container without a manifest was first seen, and what was last said about those that stay. */
interface OrphanWatch {
  firstSeenAt: Map<string, number>;
  lastHold: string;
}

export function createOrphanWatch(): OrphanWatch {
  return { firstSeenAt: new Map(), lastHold: "" };
}

/**
 * Removes containers of this installation that no manifest asks for, after a grace and never in bulk: an empty or
 * half-read database must not take the apps with it.
 */
export async function collectOrphans(context: Context, watch: OrphanWatch): Promise<void> {
  const { store, pods, clock, limits, log } = context;
  const manifestKeys = new Set(store.manifests.heads().map(keyText));
  const strays = [...pods.all()].filter((pod) => !manifestKeys.has(keyText(pod.key)) && !isOfRelease(context, pod));
  const now = clock.steady();
  forgetGone(watch, new Set(strays.map((pod) => pod.id)));
  if (strays.length === 0) return;
  for (const pod of strays) if (!watch.firstSeenAt.has(pod.id)) watch.firstSeenAt.set(pod.id, now);
  const { remove, hold } = orphans({
    containers: strays.map((pod) => ({
      ...pod.key,
      id: pod.id,
      name: pod.name,
      key: keyText(pod.key),
      createdAt: pod.createdAt,
    })),
    manifestKeys,
    deleteMarks: new Set(store.deletions.list().map(keyText)),
    held: store.collectionHeld,
    firstSeenAt: watch.firstSeenAt,
    now,
    graceMs: limits.orphanGraceMs,
    liveTotal: [...pods.all()].length,
  });
  if (hold.why !== watch.lastHold) {
    watch.lastHold = hold.why ?? "";
    if (hold.why) log.warn("orphans held back", { why: hold.why, containers: hold.ids.length });
  }
  const results = await Promise.allSettled(remove.map((id) => removeStray(context, id)));
  const failed = results.find((result) => result.status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Ends commands that a client ran through a server that was killed: no client is connected to them any more. */
export async function endUnattended(context: Context): Promise<void> {
  const { pods, engine, attached, store } = context;
  if (store.collectionHeld) return;
  const left = [...pods.all()].filter(({ role, name }) => role === "run" && !attached.has(name));
  for (const pod of left) {
    await stopGently(engine, pod);
    await engine.remove(pod);
    context.log.info("command of a client that is gone ended", { container: pod.name });
  }
}

/** Containers of release commands have no manifest of their own; the code that runs them removes them. */
function isOfRelease({ store }: Context, pod: Pod): boolean {
  const release = pod.role === "release" ? store.releases.get(pod.releaseId ?? "") : undefined;
  return release !== undefined && (pod.state === "running" || release.endedAt === undefined || awaitsPost(release));
}

async function removeStray(context: Context, id: string): Promise<void> {
  const pod = context.pods.byId(id);
  if (pod === undefined) return;
  await stopGently(context.engine, pod);
  await context.engine.remove(pod);
  const { kind, scope, name } = pod.key;
  const detail = { container: pod.name, why: `no manifest ${formatKey(pod.key)}` };
  await context.notes.write((tx) =>
    tx.events.append({ actor: "reconciler", action: "orphan.remove", kind, scope, name, detail }, context.clock.now()),
  );
}

function forgetGone(watch: OrphanWatch, present: Set<string>): void {
  for (const id of watch.firstSeenAt.keys()) if (!present.has(id)) watch.firstSeenAt.delete(id);
}
