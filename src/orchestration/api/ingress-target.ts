import type { PodKind } from "./manifest.ts";

/** The port of a service, if neither the ingress nor the service names one. */
export const portFallback = 80;

/**
 * Which of the resources of one name an ingress means. A name may be both: the deployment counts, unless one replica of
 * a statefulset is asked for.
 */
export function ingressTargetKind(kinds: readonly PodKind[], ordinal: number | undefined): PodKind | undefined {
  const first = ordinal === undefined ? "deployment" : "statefulset";
  return kinds.includes(first) ? first : kinds[0];
}
