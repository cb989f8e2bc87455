import type { Naming } from "../core/naming.ts";
import type { ObservedPod, PodIdentity, PodRef } from "./pod.ts";

/** What the labels of a container say; undefined without a kind and a name of ours. Empty ones cover those of an image. */
export function identityOf(labels: Record<string, string>, { label }: Pick<Naming, "label">): PodIdentity | undefined {
  const { [label.kind]: kind, [label.name]: name, [label.replicaOrdinal]: ordinal } = labels;
  if (kind === undefined || name === undefined || kind === "" || name === "") return undefined;
  return {
    key: { kind, scope: labels[label.scope] ?? "", name },
    replicaId: labels[label.replicaId] ?? "",
    ordinal: ordinal === undefined ? undefined : Number(ordinal),
    role: labels[label.role],
    releaseId: labels[label.releaseId],
    hash: labels[label.manifestHash] ?? "",
    generation: Number(labels[label.generation] ?? 0),
    ...portsIn(labels[label.ingressPorts]),
  };
}

function portsIn(text: string | undefined): Pick<PodIdentity, "ingressPorts"> {
  return text === undefined ? {} : { ingressPorts: text.split(",").map(Number) };
}

/** The address on the platform network; loopback where the container shares the machine's network. */
export function addressIn(
  { addresses, joined, state }: Pick<ObservedPod, "addresses" | "joined" | "state">,
  { network }: Pick<Naming, "network">,
): string | undefined {
  return addresses[network] ?? (joined.includes("host") && state === "running" ? "127.0.0.1" : undefined);
}

/** The only machine there is: the one that the server runs on. */
const node = "local";

/** Refers to what this machine's engine calls so. */
export function podRef(id: string): PodRef {
  return { node, id };
}

/** What an engine tells of a container, as the controller takes it: where it is, whose it is, and where it is reached. */
export function placed<C extends Omit<ObservedPod, "node" | "identity" | "address">>(container: C, names: Naming) {
  return { ...container, node, identity: identityOf(container.labels, names), address: addressIn(container, names) };
}
