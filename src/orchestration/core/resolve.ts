import type { PodKind } from "../api/manifest.ts";
import { specHash } from "./spec-hash.ts";
import { decodeSpec } from "./spec/decode.ts";
import { builtImage } from "./build/built-image.ts";
import { placeholderFiller, type ResolveProblem } from "./resolve-placeholders.ts";
import type { ResolveInput } from "./resolve-input.ts";
import { rolloutPolicy } from "./resolve-rollout.ts";
import { containerTemplate, initChain, volumeClaims } from "./resolve-template.ts";
import type { ResolvedWorkload } from "./workload.ts";

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
