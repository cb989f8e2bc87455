import type { PodKind } from "../api/manifest.ts";
import { specHash } from "./spec-hash.ts";
import { decodeSpec } from "./spec/decode.ts";
import { builtImage } from "./build/built-image.ts";
import { placeholderFiller, type ResolveProblem } from "./resolve-placeholders.ts";
import type { ResolveInput } from "./resolve-input.ts";
import { containerTemplate, initChain, volumeClaims } from "./resolve-template.ts";
import type { ContainerTemplate, Mount, ResolvedWorkload, RolloutPolicy } from "./workload.ts";
import type { DecodedRollout } from "./spec/rollout.ts";

/**
 * A stored manifest as data from which containers are made: environment merged, quantities read, references filled in,
 * defaults applied. With problems the workload is incomplete and nothing may be made from it; each says which reason
 * its condition gets.
 */
export function resolveWorkload(input: ResolveInput): { workload: ResolvedWorkload; problems: ResolveProblem[] } {
  const { manifest } = input;
  const { scope, name, spec } = manifest;
  const problems: ResolveProblem[] = [];
  const kind: PodKind = manifest.kind === "statefulset" ? "statefulset" : "deployment";
  const pod = decodeSpec(kind, spec);
  const fill = placeholderFiller(input, pod.assetDigests, problems);
  const container = containerTemplate(input, pod, { fill, problems });
  const workload: ResolvedWorkload = {
    kind,
    scope,
    name,
    replicas: pod.replicas,
    hash: specHash(kind, spec),
    generation: manifest.generation,
    revision: manifest.revision,
    image: pod.image === undefined ? builtImage(scope, name, pod) : fill(pod.image, "spec.image"),
    pullable: pod.image !== undefined,
    pull: pod.pull,
    container,
    inits: initChain(input, pod, { fill, problems }),
    volumeClaims: kind === "statefulset" ? volumeClaims(pod) : [],
    rollout: rolloutPolicy(kind, pod.rollout, container),
  };
  return { workload, problems };
}

/** How replicas are replaced: what the spec says, and the strategy that the container allows. */
function rolloutPolicy(kind: PodKind, rollout: DecodedRollout, container: ContainerTemplate): RolloutPolicy {
  if (kind === "statefulset") {
    // An ordinal is stopped before it is recreated, one at a time: its volumes have one writer.
    const fixed = { strategy: "rolling", strategyReason: undefined, maxSurge: 0, maxUnavailable: 1 } as const;
    return { ...rollout, ...fixed, canary: undefined };
  }
  const { strategy, reason } = strategyOf(rollout.strategy, container);
  const canary = strategy === "rolling" ? rollout.canary : undefined;
  return { ...rollout, strategy, strategyReason: reason, canary };
}

interface Decision {
  strategy: RolloutPolicy["strategy"];
  reason: string | undefined;
}

/** First match wins. */
function strategyOf(written: DecodedRollout["strategy"], container: ContainerTemplate): Decision {
  const port = container.ports.find(({ hostPort }) => hostPort !== undefined);
  // Even where rolling is written: the new replica could not bind.
  if (port !== undefined && container.networkMode === "bridge") {
    return recreate(`host port ${port.hostPort} is fixed, so the old replica must release it first`);
  }
  if (written !== undefined) return { strategy: written, reason: undefined };
  if (container.networkMode === "host") {
    return recreate("replicas share the network of the host, so the old one must release its ports first");
  }
  const volume = container.mounts.find(isWritable);
  if (volume !== undefined) {
    return recreate(
      `"${volume.volume?.name ?? volume.source}" is writable, so two replicas never use it at once; write rollout.strategy = "rolling" if they may`,
    );
  }
  return { strategy: "rolling", reason: undefined };
}

function recreate(reason: string): Decision {
  return { strategy: "recreate", reason };
}

function isWritable(mount: Mount): boolean {
  return !mount.readOnly;
}
