import { sameKey, type StoredManifest } from "../api/manifest.ts";
import type { Context } from "./context.ts";
import { latestRelease } from "./releases.ts";

/** Why something long inside a round is pointless from now on; the reason of an `Interrupt`'s signal. */
export type Interruption = "changed" | "deadline";

export interface Interrupt {
  signal: AbortSignal;
  /** The round is over: nothing is watched any more. */
  end(): void;
}

/** Aborts once something else is wanted of the resource, or at `deadlineAt` (epoch ms), where that lies ahead. */
export function interruptOf(context: Context, manifest: StoredManifest, deadlineAt: number | undefined): Interrupt {
  const interrupted = new AbortController();
  const over = new AbortController();
  const abort = (why: Interruption) => interrupted.abort(why);
  const before = versionOf(context, manifest);
  const leave = context.store.subscribe((keys) => {
    if (keys.some((key) => sameKey(key, manifest)) && versionOf(context, manifest) !== before) abort("changed");
  });
  const leftMs = deadlineAt === undefined ? 0 : deadlineAt - context.clock.now();
  if (leftMs > 0) {
    void context.clock.sleep(leftMs, over.signal).then(() => {
      if (!over.signal.aborted) abort("deadline");
    });
  }
  return {
    signal: interrupted.signal,
    end() {
      leave();
      over.abort();
    },
  };
}

function versionOf(context: Context, { kind, scope, name }: StoredManifest): string {
  const now = context.store.manifests.get({ kind, scope, name });
  return `${now?.revision}/${now?.generation}/${latestRelease(context, { kind, scope, name })?.id}`;
}
