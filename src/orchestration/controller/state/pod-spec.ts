import { podOf } from "../../core/spec/decode.ts";
import type { DecodedPod } from "../../core/spec/pod.ts";
import type { Context } from "./context.ts";
import type { Pod } from "./pod.ts";

/** The spec that the container was made from; today's when that is not known any more. */
export function specOf(
  { store }: Pick<Context, "store">,
  { key, hash }: Pick<Pod, "key" | "hash">,
): DecodedPod | undefined {
  const made = store.releases.list(key).find((one) => one.hash === hash) ?? store.manifests.get(key);
  return made && podOf(made);
}
