import type { Spec } from "../../api/manifest.ts";
import type { Context } from "./context.ts";
import type { Pod } from "./pod.ts";

/** The spec that the container was made from; today's when that is not known any more. */
export function specOf({ store }: Pick<Context, "store">, { key, hash }: Pod): Spec | undefined {
  const release = store.releases.list(key).find((one) => one.hash === hash);
  return release?.spec ?? store.manifests.get(key)?.spec;
}
