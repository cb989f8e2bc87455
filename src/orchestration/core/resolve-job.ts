import { specHash } from "./spec-hash.ts";
import { decodeSpec } from "./spec/decode.ts";
import type { DecodedJob } from "./spec/job.ts";
import { builtImage } from "./build/built-image.ts";
import type { Naming } from "./naming.ts";
import type { ResolveInput } from "./resolve-input.ts";
import { placeholderFiller, type ResolveProblem } from "./resolve-placeholders.ts";
import { containerTemplate, isPlatformLabel } from "./resolve-template.ts";
import type { ContainerTemplate } from "./workload.ts";

export type JobKind = "job" | "cronjob";

/** Everything that the runs of a job or cron job are made from, resolved. */
export interface ResolvedJob {
  kind: JobKind;
  scope: string;
  name: string;
  /** Spec hash: sha256 hex. */
  hash: string;
  generation: number;
  /** As written, or `<scope>-<name>:latest`. */
  image: string;
  /** False when the image is one built on this machine: it is never pulled. */
  pullable: boolean;
  pull: "missing" | "always";
  container: ContainerTemplate;
  /** Time limit of one try; undefined for no limit. */
  timeoutMs: number | undefined;
  /** Tries after the first one. */
  retries: number;
}

export function isJobKind(kind: string): kind is JobKind {
  return kind === "job" || kind === "cronjob";
}

/**
 * A stored job, or the job inside a cron job, as data from which containers are made. With problems it is incomplete
 * and nothing may be made from it.
 */
export function resolveJob(input: ResolveInput): { job: ResolvedJob; problems: ResolveProblem[] } {
  const { manifest, names } = input;
  const { scope, name, generation } = manifest;
  const kind: JobKind = manifest.kind === "cronjob" ? "cronjob" : "job";
  const spec = kind === "cronjob" ? decodeSpec(kind, manifest.spec).job : decodeSpec(kind, manifest.spec);
  const path = kind === "cronjob" ? "spec.job" : "spec";
  const problems: ResolveProblem[] = [];
  const fill = placeholderFiller(input, spec.assetDigests, problems);
  const job: ResolvedJob = {
    kind,
    scope,
    name,
    // Only a run needs it, and most looks at a job start none.
    get hash() {
      return specHash(kind, manifest.spec);
    },
    generation,
    image: spec.image === undefined ? builtImage(scope, name, spec) : fill(spec.image, "spec.image"),
    pullable: spec.image !== undefined,
    pull: spec.pull,
    container: withLabels(containerTemplate(input, spec, { fill, problems }), spec, names),
    timeoutMs: spec.timeoutMs,
    retries: spec.retries,
  };
  return { job, problems: problems.map((problem) => ({ ...problem, path: problem.path.replace(/^spec/, path) })) };
}

function withLabels(container: ContainerTemplate, spec: DecodedJob, names: Naming): ContainerTemplate {
  const own = Object.entries(spec.labels).filter(([key]) => !isPlatformLabel(key, names));
  const labels = { ...container.options.labels, ...Object.fromEntries(own) };
  return { ...container, options: { ...container.options, labels } };
}
