import { type ManifestKey, sameKey } from "../../api/manifest.ts";
import type { Context } from "../state/context.ts";

/** How an app that is being put to sleep is watched. */
interface Waking {
  /** Aborts once it is wanted again: replicas that still run are kept then. */
  signal: AbortSignal;
  leave(): void;
}

/** Undefined for what is not asleep. */
export function wakingOf({ store }: Pick<Context, "store">, key: ManifestKey): Waking | undefined {
  const isAsleep = () => store.sleep.get(key)?.asleep === true;
  if (!isAsleep()) return undefined;
  const woken = new AbortController();
  const leave = store.subscribe((keys) => {
    if (keys.some((one) => sameKey(one, key)) && !isAsleep()) woken.abort();
  });
  return { signal: woken.signal, leave };
}
