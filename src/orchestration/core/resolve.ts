import type { PodKind, Spec } from "../api/manifest.ts";
import { specHash } from "./spec-hash.ts";
import { fieldsOf, integerOf, listOf, textOf } from "./lenient.ts";
import { builtImage } from "./build/built-image.ts";
import { placeholderFiller, type ResolveProblem } from "./resolve-placeholders.ts";
import type { ResolveInput } from "./resolve-input.ts";
import { rolloutPolicy } from "./resolve-rollout.ts";
import { containerTemplate, initChain } from "./resolve-template.ts";
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
  const fill = placeholderFiller(input, spec, problems);
  const writtenImage = textOf(spec.image);
  const container = containerTemplate(input, { fill, problems });
  const workload: ResolvedWorkload = {
    kind,
    scope,
    name,
    replicas: writtenReplicas(spec),
    hash: specHash(kind, spec),
    generation: manifest.generation,
    revision: manifest.revision,
    image: writtenImage === undefined ? builtImage(scope, name, spec) : fill(writtenImage, "spec.image"),
    pullable: writtenImage !== undefined,
    pull: spec.pull === "always" ? "always" : "missing",
    container,
    inits: initChain(input, { fill, problems }),
    claims: kind === "statefulset" ? claims(spec.volume_claims) : [],
    rollout: rolloutPolicy(kind, spec, container),
  };
  return { workload, problems };
}

/** What a spec asks for at first. */
export function writtenReplicas({ replicas, autoscale }: Spec): number {
  return integerOf(replicas) ?? integerOf(fieldsOf(autoscale).min) ?? 1;
}

function claims(value: unknown): { name: string; mountPath: string }[] {
  return listOf(value).flatMap((claim) => {
    const name = textOf(claim.name);
    const mountPath = textOf(claim.mount_path);
    return name === undefined || mountPath === undefined ? [] : [{ name, mountPath }];
  });
}
