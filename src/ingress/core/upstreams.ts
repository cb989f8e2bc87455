import { ingressTargetKind, portFallback } from "../../orchestration/api/ingress-target.ts";
import { type PlaneName, planeNames } from "../../orchestration/api/kinds/ingress.ts";
import type { PodKind } from "../../orchestration/api/manifest.ts";
import type { PodEndpoint } from "../../orchestration/api/pod-endpoint.ts";
import type { IngressManifest, ReadIngress } from "./ingress-spec.ts";
import type { Upstream } from "./table.ts";

/** What an ingress may lead to. */
export interface Targets {
  /** Running replicas of all deployments and statefulsets. */
  endpoints: readonly PodEndpoint[];
  /** Kinds of the deployments and statefulsets that are stored under a name; empty when there is none. */
  serviceKinds(scope: string, name: string): readonly PodKind[];
  /** Where the parts of the server listen that an ingress may lead to. */
  planes: Partial<Record<PlaneName, { address: string; port: number }>>;
}

export type UpstreamReason = "ServiceMissing" | "PlaneMissing" | "OrdinalOfDeployment" | "NoReplica" | "PortAssumed";

export interface FoundUpstreams {
  upstreams: Upstream[];
  problem: { reason: UpstreamReason; message: string } | undefined;
}

/** Weight of an upstream that gets as much as the others. */
const weight = 100;

/** Looks replicas up by the service that they belong to. */
export function createUpstreams(targets: Targets): (manifest: IngressManifest, read: ReadIngress) => FoundUpstreams {
  const byService = Map.groupBy(targets.endpoints, ({ scope, name }) => `${scope}/${name}`);
  return (manifest, { spec }) => {
    const service = spec.service ?? manifest.name;
    if (service.startsWith("@")) return planeUpstream(service, targets);
    const id = `${manifest.scope}/${service}`;
    return replicasOf({
      id,
      kinds: targets.serviceKinds(manifest.scope, service),
      running: byService.get(id) ?? [],
      ordinal: spec.ordinal,
      port: spec.port,
    });
  };
}

function planeUpstream(name: string, { planes }: Targets): FoundUpstreams {
  const plane = planeNames.find((one) => one === name);
  const at = plane === undefined ? undefined : planes[plane];
  if (at === undefined) return nothing("PlaneMissing", `service: ${name} does not run in this server`);
  return {
    upstreams: [{ id: name, replica: name, ...at, weight, isLeaving: false }],
    problem: undefined,
  };
}

interface Wanted {
  id: string;
  kinds: readonly PodKind[];
  running: readonly PodEndpoint[];
  ordinal: number | undefined;
  port: number | undefined;
}

function replicasOf({ id, kinds, running, ordinal, port }: Wanted): FoundUpstreams {
  const kind = ingressTargetKind(kinds, ordinal);
  const replicas = running.filter((one) => {
    const isKind = kind === undefined || one.kind === kind;
    return isKind && (ordinal === undefined || one.ordinal === ordinal) && (one.ready || one.leaving);
  });
  const serving = replicas.flatMap((one) => upstreamOf(one, port));
  const upstreams = serving.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (kind === undefined) {
    const message = `service: there is no deployment or statefulset ${id}; apply it, or name another service`;
    return { upstreams, problem: { reason: "ServiceMissing", message } };
  }
  if (kind === "deployment" && ordinal !== undefined) {
    return nothing(
      "OrdinalOfDeployment",
      `ordinal: ${id} is a deployment; only replicas of statefulsets have ordinals`,
    );
  }
  if (upstreams.every(({ isLeaving }) => isLeaving)) {
    const which = ordinal === undefined ? `no replica of ${id}` : `replica ${ordinal} of ${id}`;
    const message = ordinal === undefined ? `${which} is ready` : `${which} is not ready`;
    return { upstreams, problem: { reason: "NoReplica", message } };
  }
  const isAssumed = port === undefined && replicas.some(({ ports }) => ports.length === 0);
  const message = `port: neither this ingress nor ${id} names a port; port ${portFallback} is used`;
  return { upstreams, problem: isAssumed ? { reason: "PortAssumed", message } : undefined };
}

function upstreamOf(endpoint: PodEndpoint, port: number | undefined): Upstream[] {
  const { id, replica, ip, ports, leaving } = endpoint;
  if (ip === undefined) return [];
  const at = { address: ip, port: port ?? ports[0] ?? portFallback };
  return [{ id, replica, ...at, weight: endpoint.weight ?? weight, isLeaving: leaving }];
}

function nothing(reason: UpstreamReason, message: string): FoundUpstreams {
  return { upstreams: [], problem: { reason, message } };
}
