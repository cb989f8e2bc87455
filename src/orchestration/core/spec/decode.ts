import type { CoreKind, PodKind, Spec } from "../../api/manifest.ts";
import { decodeAsset, type DecodedAsset } from "./asset.ts";
import type { DecodedContainer } from "./container.ts";
import { decodeIngress, type DecodedIngress } from "./ingress.ts";
import { decodeCronjob, type DecodedCronjob, decodeJob, type DecodedJob } from "./job.ts";
import { decodePod, type DecodedPod } from "./pod.ts";
import { decodeRegistry, type DecodedRegistry } from "./registry.ts";

interface ByKind extends Record<PodKind, DecodedPod> {
  job: DecodedJob;
  cronjob: DecodedCronjob;
  ingress: DecodedIngress;
  asset: DecodedAsset;
  registry: DecodedRegistry;
}

/** A stored spec as typed data; `kind` says which. */
type DecodedSpec = ByKind[CoreKind];

const decoders: { [K in CoreKind]: (spec: Spec) => ByKind[K] } = {
  deployment: (spec) => decodePod("deployment", spec),
  statefulset: (spec) => decodePod("statefulset", spec),
  job: decodeJob,
  cronjob: decodeCronjob,
  ingress: decodeIngress,
  asset: decodeAsset,
  registry: decodeRegistry,
};

/**
 * A spec with its defaults filled in: durations in milliseconds, quantities as numbers, entries parsed. It may be one of
 * another version: what this one cannot read counts as absent, and nothing throws. Of a frozen spec it is kept as long as
 * the spec itself; what is not frozen may be another by the next call.
 */
export function decodeSpec<K extends CoreKind>(kind: K, spec: Spec): ByKind[K] {
  const known = decoded.get(spec);
  if (known?.kind === kind) return known as ByKind[K];
  const made = decoders[kind](spec);
  if (Object.isFrozen(spec)) decoded.set(spec, made);
  return made;
}

const decoded = new WeakMap<Spec, DecodedSpec>();

/** The part of a spec that describes the container, and its path; undefined of kinds that make none. */
export function containerOf(kind: string, spec: Spec): { container: DecodedContainer; path: string } | undefined {
  switch (kind) {
    case "deployment":
    case "statefulset":
    case "job":
      return { container: decodeSpec(kind, spec), path: "spec" };
    case "cronjob":
      return { container: decodeSpec(kind, spec).job, path: "spec.job" };
    default:
      return undefined;
  }
}

/** A deployment or statefulset; undefined of other kinds. */
export function podOf({ kind, spec }: { kind: string; spec: Spec }): DecodedPod | undefined {
  return kind === "deployment" || kind === "statefulset" ? decodeSpec(kind, spec) : undefined;
}

/** A job or cron job; undefined of other kinds. */
export function jobOf({ kind, spec }: { kind: string; spec: Spec }): DecodedJob | DecodedCronjob | undefined {
  return kind === "job" || kind === "cronjob" ? decodeSpec(kind, spec) : undefined;
}
