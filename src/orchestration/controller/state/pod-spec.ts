import { podOf } from "../../core/spec/decode.ts";
import type { DecodedPod } from "../../core/spec/pod.ts";
import type { Store } from "../../store/store.ts";
import type { Pod } from "./pod.ts";

interface Specs {
  store: Pick<Store, "releases" | "manifests">;
}

/** Whether the spec that the container was made from is on record. */
export function isSpecKnown({ store }: Specs, { key, hash }: Pick<Pod, "key" | "hash">): boolean {
  return store.releases.list(key).some((one) => one.hash === hash);
}

/** The spec that the container was made from; today's when that is not known any more. */
export function specOf({ store }: Specs, { key, hash }: Pick<Pod, "key" | "hash">): DecodedPod | undefined {
  const made = store.releases.list(key).find((one) => one.hash === hash) ?? store.manifests.get(key);
  return made && podOf(made);
}
