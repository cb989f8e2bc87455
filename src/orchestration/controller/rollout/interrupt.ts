import { sameKey, type StoredManifest } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";
import { latestRelease } from "./releases.ts";

/** Why something long inside a round is pointless from now on: the reason of the signal. */
export type Interruption = "changed" | "deadline";

interface Interruptible {
  manifest: StoredManifest;
  /** On the steady clock. */
  deadlineAt: number | undefined;
}

/**
 * Does `work` with a signal that aborts once something else is wanted of the resource, or at the deadline, where that
 * lies ahead. When the work fails, the resource is looked at again at its deadline, however long its back-off is.
 */
export async function interruptible(
  context: Context,
  { manifest, deadlineAt }: Interruptible,
  work: (interrupt: AbortSignal) => Promise<void>,
): Promise<void> {
  const interrupted = new AbortController();
  const over = new AbortController();
  const abort = (why: Interruption) => interrupted.abort(why);
  const before = versionOf(context, manifest);
  const leave = context.store.subscribe((keys) => {
    if (keys.some((key) => sameKey(key, manifest)) && versionOf(context, manifest) !== before) abort("changed");
  });
  const leftMs = () => (deadlineAt === undefined ? 0 : deadlineAt - context.clock.steady());
  if (leftMs() > 0) {
    void context.clock.sleep(leftMs(), over.signal).then(() => {
      if (!over.signal.aborted) abort("deadline");
    });
  }
  try {
    await work(interrupted.signal);
  } catch (error) {
    if (leftMs() > 0) context.enqueue(manifest, leftMs());
    throw error;
  } finally {
    leave();
    over.abort();
  }
}

function versionOf(context: Context, { kind, scope, name }: StoredManifest): string {
  const now = context.store.manifests.get({ kind, scope, name });
  return `${now?.revision}/${now?.generation}/${latestRelease(context, { kind, scope, name })?.id}`;
}
