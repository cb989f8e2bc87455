import { Failure } from "../api/failure.ts";
import type { Spec, StoredManifest } from "../api/manifest.ts";
import { parseDuration } from "../core/duration.ts";
import { specHash } from "../core/digest.ts";
import { oneOffSpec, releaseContainerName } from "../core/one-off-spec.ts";
import type { ReleaseRecord } from "../store/store.ts";
import type { Context } from "./context.ts";
import { ensureImage } from "./images.ts";
import { runOneOff } from "./one-off.ts";
import { refuseUnresolved, resolveStored } from "./resolve.ts";
import type { Transcript } from "./transcript.ts";

/** One command of a release phase. */
export interface Step {
  name: "pre_command" | "command" | "post_command";
  when: "before" | "after";
  container: "pre" | "main" | "post";
  argv: string[];
  timeoutMs: number;
}

const defaultTimeoutMs = 10 * 60_000;

/** The commands that a spec's `release` block has, in order. */
export function stepsOf(spec: Spec): Step[] {
  const block = spec.release;
  if (typeof block !== "object" || block === null) return [];
  const fields = block as Record<string, unknown>;
  const timeoutMs =
    (typeof fields.timeout === "string" ? parseDuration(fields.timeout) : undefined) ?? defaultTimeoutMs;
  const all = [
    { name: "pre_command", when: "before", container: "pre" },
    { name: "command", when: "before", container: "main" },
    { name: "post_command", when: "after", container: "post" },
  ] as const;
  return all.flatMap((step) => {
    const argv = fields[step.name];
    return Array.isArray(argv) && argv.length > 0 ? [{ ...step, argv: argv.map(String), timeoutMs }] : [];
  });
}

export interface StepRun {
  manifest: StoredManifest;
  release: ReleaseRecord;
  step: Step;
  transcript: Transcript;
  signal: AbortSignal;
}

/** Exit code 0 is success; `text` says how it ended, for records. */
export async function runReleaseStep(context: Context, run: StepRun): Promise<{ code: number; text: string }> {
  const { step } = run;
  try {
    const result = await inContainer(context, run);
    if (result.end === "timed_out") return { code: -1, text: `failed in ${step.name} (no end within its timeout)` };
    const memory = result.oomKilled ? ", out of memory" : "";
    return { code: result.exitCode, text: `failed in ${step.name} (exit ${result.exitCode}${memory})` };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    run.transcript.write(`${error.message}\n`);
    return { code: -1, text: `failed in ${step.name}: ${error.message}` };
  }
}

/** The parent's image, env, volumes, networks and hosts; its resource limits stay with the replicas. */
async function inContainer(context: Context, { manifest, release, step, transcript, signal }: StepRun) {
  const stored = { ...manifest, spec: release.spec };
  const { workload, problems } = resolveStored(context, stored);
  refuseUnresolved(problems);
  const given = release.imageId === undefined ? undefined : await context.runtime.inspectImage(release.imageId);
  const hash = specHash(manifest.kind, release.spec);
  const imageRef = given?.id ?? (await ensureImage(context, { ...workload, hash }));
  for (const network of [context.names.network, ...workload.container.networks]) {
    await context.runtime.ensureNetwork(network);
  }
  const template = { ...workload.container, nanoCpus: undefined, memoryBytes: undefined };
  const spec = oneOffSpec(
    template,
    {
      kind: "job",
      scope: manifest.scope,
      name: `${manifest.name}-release`,
      containerName: releaseContainerName(manifest, release.id, step.container),
      replicaId: release.id,
      role: "release",
      releaseId: release.id,
      imageRef,
      command: step.argv,
      createdAt: context.clock.now(),
    },
    context.names,
  );
  return runOneOff(context, { spec, timeoutMs: step.timeoutMs, signal, onOutput: (text) => transcript.write(text) });
}
