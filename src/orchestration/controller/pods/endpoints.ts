import type { PodEndpoint, PodEndpoints } from "../../api/pod-endpoint.ts";
import { createBroadcast } from "../../../base/words/broadcast.ts";
import { wordsOf } from "../../core/lenient.ts";
import { parsePort } from "../../core/ports.ts";
import type { Context } from "../state/context.ts";
import { readinessOf } from "../state/observe.ts";
import type { Pod } from "../state/pod.ts";
import { specOf } from "../state/pod-spec.ts";
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
    const ports = portsByPod.get(pod) ?? tcpPorts(specOf(contextOf(), pod)?.ports);
    portsByPod.set(pod, ports);
    return ports;
  }

  return {
    list() {
      const context = contextOf();
      if (!context.pods.hasLooked()) return undefined;
      const pods = [...context.pods.all()].filter(isServing).sort(byIdentity);
      return pods.map((pod) => endpointOf(context, pod, portsOf(pod)));
    },
    subscribe: changes.subscribe,
    changed() {
      if (isDue) return;
      isDue = true;
      // Later: whoever changes something is in the middle of it.
      queueMicrotask(() => {
        isDue = false;
        changes.publish();
      });
    },
  };
}

/** One-off containers and runs of jobs serve nobody, and neither does what does not run. */
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
    ...(pod.ordinal === undefined ? {} : { ordinal: pod.ordinal }),
    node: pod.node,
    id: pod.id,
    ip: pod.address,
    ports,
    ready: readinessOf(context, pod).ready,
    leaving: context.leaving.has(pod.id),
  };
}

/** On the container's side, each once, in the order of the spec. */
function tcpPorts(entries: unknown): number[] {
  const bindings = wordsOf(entries).flatMap((text) => {
    const port = parsePort(text);
    return port.ok && port.value.protocol === "tcp" ? [port.value.containerPort] : [];
  });
  return [...new Set(bindings)];
}
