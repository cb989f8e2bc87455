import type { PodEndpoint, PodEndpoints } from "../../api/pod-endpoint.ts";
import { createBroadcast } from "../../../base/words/broadcast.ts";
import { probedPorts } from "../../core/ingress-ports.ts";
import { weightsOf } from "../../core/plan/canary-weights.ts";
import type { DecodedPod } from "../../core/spec/pod.ts";
import type { Context } from "../state/context.ts";
import { readinessOf } from "../state/observe.ts";
import type { Pod } from "../state/pod.ts";
import { isSpecKnown, specOf } from "../state/pod-spec.ts";
import { isPodKind } from "../state/target.ts";
import { byIdentity } from "./pods.ts";

/** Joins what the engine says of the replicas with what only the controller knows: which are ready, and which leave. */
interface EndpointRoom extends PodEndpoints {
  /** Something that the list is made from may have changed. */
  changed(): void;
}

export function createEndpointRoom(contextOf: () => Context, onListenerError: (error: unknown) => void): EndpointRoom {
  const changes = createBroadcast<void>(onListenerError);
  /** A container is made from one spec all its life. */
  const portsByPod = new WeakMap<Pod, number[]>();
  let isDue = false;

  function portsOf(pod: Pod): number[] {
    const known = portsByPod.get(pod);
    if (known !== undefined) return known;
    const context = contextOf();
    const spec = specOf(context, pod);
    const ports = isSpecKnown(context, pod) ? tcpPorts(spec) : likelyPorts(pod, spec);
    // A restored state may not know the app yet; once it is applied, the container is one of its replicas.
    if (spec !== undefined) portsByPod.set(pod, ports);
    return ports;
  }

  return {
    list() {
      const context = contextOf();
      if (!context.pods.hasLooked()) return undefined;
      const pods = [...context.pods.all()].filter(isServing).sort(byIdentity);
      return shared(
        context,
        pods,
        pods.map((pod) => endpointOf(context, pod, portsOf(pod))),
      );
    },
    subscribe: changes.subscribe,
    changed() {
      if (isDue) return;
      isDue = true;
      // Later: the code that changes something is still in the middle of it.
      queueMicrotask(() => {
        isDue = false;
        changes.publish();
      });
    },
  };
}

/** One-off containers and runs of jobs serve no requests, and neither does what does not run. */
function isServing({ key, role, state }: Pod): boolean {
  return isPodKind(key.kind) && role === undefined && state === "running";
}

function endpointOf(context: Context, pod: Pod, ports: number[]): PodEndpoint {
  const { kind, scope, name } = pod.key;
  return {
    kind,
    scope,
    name,
    replica: pod.replicaId,
    ordinal: pod.ordinal,
    node: pod.node,
    id: pod.id,
    ip: pod.address,
    ports,
    ready: readinessOf(context, pod).ready,
    leaving: context.leaving.has(pod.id),
  };
}

/** With their weights, where a canary release shares the requests out. A weight of 0 is the same as not ready. */
function shared(context: Context, pods: readonly Pod[], endpoints: PodEndpoint[]): PodEndpoint[] {
  const serving = pods.filter((_, index) => endpoints[index]?.ready === true);
  const weights = new Map<Pod, number>();
  for (const [canary, group] of Map.groupBy(serving, ({ key }) => context.store.canaries.get(key))) {
    const shares = canary && weightsOf(canary, group);
    for (const [index, pod] of group.entries()) if (shares?.[index] !== undefined) weights.set(pod, shares[index]);
  }
  if (weights.size === 0) return endpoints;
  return endpoints.map((endpoint, index) => {
    const pod = pods[index];
    const weight = pod && weights.get(pod);
    if (weight === undefined) return endpoint;
    return weight === 0 ? { ...endpoint, ready: false } : { ...endpoint, weight };
  });
}

/**
 * Ports of a container whose spec is not on record. Its label has the ports that ingresses led to when it was made, without
 * those that a probe asked: the first port of today counts only where it agrees with that.
 */
function likelyPorts({ ingressPorts: atBirth = [] }: Pod, today: DecodedPod | undefined): number[] {
  const ports = tcpPorts(today);
  const [first] = ports;
  const isSame =
    first !== undefined && today !== undefined && (atBirth.includes(first) || probedPorts(today).has(first));
  return isSame ? ports : [...new Set([...atBirth, ...ports])];
}

/** On the container's side, each once, in the order of the spec. */
function tcpPorts(pod: DecodedPod | undefined): number[] {
  const bindings = pod?.ports.flatMap(({ read: port }) => {
    return port.ok && port.value.protocol === "tcp" ? [port.value.containerPort] : [];
  });
  return [...new Set(bindings)];
}
