import { ingressTargetKind, portFallback } from "../api/ingress-target.ts";
import type { PodKind, Spec } from "../api/manifest.ts";
import { decodeSpec } from "./spec/decode.ts";
import type { DecodedPod } from "./spec/pod.ts";

interface LedTo {
  kind: PodKind;
  name: string;
  /** Ordinal in a statefulset. */
  ordinal: number | undefined;
  /** Kinds of the deployments and statefulsets that are stored under the name. */
  kinds: readonly PodKind[];
  /** The spec that the replica is made from. */
  spec: DecodedPod;
}

/**
 * Ports on the container's side that the ingresses of its scope lead to, ascending, each with the names of these
 * ingresses. Without those that a startup or readiness probe asks: such a probe knows better.
 */
export function ingressPorts(
  ingresses: readonly { name: string; spec: Spec }[],
  { kind, name, ordinal, kinds, spec }: LedTo,
): Map<number, string[]> {
  const found = new Map<number, string[]>();
  const probed = probedPorts(spec);
  for (const ingress of ingresses) {
    const read = decodeSpec("ingress", ingress.spec);
    const isMeant = (read.service ?? ingress.name) === name && ingressTargetKind(kinds, read.ordinal) === kind;
    if (!isMeant || (read.ordinal !== undefined && read.ordinal !== ordinal)) continue;
    const port = read.port ?? firstPort(spec) ?? portFallback;
    if (!probed.has(port)) found.set(port, [...(found.get(port) ?? []), ingress.name]);
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

function firstPort({ ports }: DecodedPod): number | undefined {
  for (const { read } of ports) if (read.ok && read.value.protocol === "tcp") return read.value.containerPort;
  return undefined;
}

/** Ports that a startup or readiness probe asks. */
export function probedPorts({ probes: { startup, readiness } }: DecodedPod): Set<number> {
  const actions = [startup?.action, readiness?.action];
  return new Set(actions.flatMap((action) => (action === undefined || action.type === "exec" ? [] : [action.port])));
}
