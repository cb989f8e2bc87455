import { Failure } from "../../../base/wire/failure.ts";
import type { ReleaseReason } from "../../api/reasons.ts";
import type { Spec } from "../../api/manifest.ts";
import { podOf } from "../../core/spec/decode.ts";
import { releaseTimeoutMs } from "../../core/spec/pod.ts";
import { specHash } from "../../core/spec-hash.ts";
import { oneOffSpec, releaseContainerName } from "../../core/one-off-spec.ts";
import type { ReleaseRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { ensureImage } from "../desired/images.ts";
import { knownImage } from "../desired/known-image.ts";
import { ensureVolumes } from "../desired/named-volumes.ts";
import { type OneOffResult, runOneOff } from "../state/one-off.ts";
import { refuseUnresolved, resolveStored } from "../desired/resolve.ts";
import type { Transcript } from "../state/transcript.ts";

/** One command of a release phase. */
export interface Step {
  name: "pre_command" | "command" | "post_command";
  when: "before" | "after";
  /** Where its exit code is recorded. */
  codeField: "preExitCode" | "exitCode" | "postExitCode";
  argv: string[];
  timeoutMs: number;
  /** Name of its container. */
  nameFor(release: ReleaseRecord): string;
}

const steps = [
  { name: "pre_command", when: "before", codeField: "preExitCode", argv: "preCommand", container: "pre" },
  { name: "command", when: "before", codeField: "exitCode", argv: "command", container: "main" },
  { name: "post_command", when: "after", codeField: "postExitCode", argv: "postCommand", container: "post" },
] as const;

/** The commands of the `release` block that a resource has, in order. */
export function stepsOf(owner: { kind: string; spec: Spec }): Step[] {
  const release = podOf(owner)?.release;
  if (release === undefined) return [];
  return steps.flatMap(({ container, argv: field, ...step }) => {
    const [argv, { timeoutMs }] = [[...release[field]], release];
    const nameFor = (record: ReleaseRecord) => releaseContainerName(record, record.id, container);
    return argv.length === 0 ? [] : [{ ...step, argv, timeoutMs, nameFor }];
  });
}

/** Limit of each command. */
export function timeoutOf(release: ReleaseRecord | undefined): number {
  return (release && podOf(release)?.release?.timeoutMs) ?? releaseTimeoutMs;
}

export function codeOf(release: ReleaseRecord, { codeField }: Step): number | undefined {
  return release[codeField];
}

/** Rolled out, with a last command that has not been seen to its end. */
export function awaitsPost(release: ReleaseRecord): boolean {
  const { status, cause, postExitCode } = release;
  if (status !== "succeeded" || cause === "auto_rollback" || postExitCode !== undefined) return false;
  return stepsOf(release).some(({ when }) => when === "after");
}

/** The labels that containers of a resource's release commands are listed by. */
export function releaseContainers({ scope, name }: { scope: string; name: string }) {
  return { kind: "job", scope, name: `${name}-release` };
}

export interface Outcome {
  /** 0 is success; -1 where there is none. */
  code: number;
  /** How it ended, for records. */
  text: string;
  /** Why it failed, for programs; empty where it did not. */
  reasons: readonly ReleaseReason[];
}

interface StepRun {
  release: ReleaseRecord;
  step: Step;
  transcript: Transcript;
  /** Aborts when the server stops: the command goes on. */
  leave: AbortSignal;
  /** Called once, while the container is still there: a server that ends before does not run the command again. */
  record(outcome: Outcome): Promise<void>;
}

/** Fails only when nothing is known yet, because the engine is away or the server stops. */
export async function runReleaseStep(context: Context, run: StepRun): Promise<Outcome> {
  try {
    let outcome: Outcome | undefined;
    const onEnded = async (result: OneOffResult) => {
      outcome = outcomeOf(run, result);
      await run.record(outcome);
    };
    const result = await inContainer(context, run, onEnded);
    return outcome ?? outcomeOf(run, result);
  } catch (error) {
    if (!(error instanceof Failure) || error.code === "unavailable" || error.code === "timeout") throw error;
    run.transcript.write(`${error.message}\n`);
    const reasons: ReleaseReason[] = ["CommandFailed", ...(error.reason === undefined ? [] : [error.reason])];
    const outcome = { code: -1, text: `failed in ${run.step.name}: ${error.message}`, reasons };
    await run.record(outcome);
    return outcome;
  }
}

function outcomeOf({ step }: StepRun, { end, exitCode, oomKilled }: OneOffResult): Outcome {
  if (end === "timed_out") {
    return {
      code: -1,
      text: `failed in ${step.name} (no end within its timeout)`,
      reasons: ["CommandFailed", "Timeout"],
    };
  }
  const failed: ReleaseReason[] = ["CommandFailed", ...(oomKilled ? (["OutOfMemory"] as const) : [])];
  const memory = oomKilled ? ", out of memory" : "";
  return {
    code: exitCode,
    text: `failed in ${step.name} (exit ${exitCode}${memory})`,
    reasons: exitCode === 0 ? [] : failed,
  };
}

/** The parent's image, env, volumes, networks and hosts; its resource limits stay with the replicas. */
async function inContainer(
  context: Context,
  { release, step, transcript, leave }: StepRun,
  onEnded: (result: OneOffResult) => Promise<void>,
): Promise<OneOffResult> {
  const { kind, scope, name } = release;
  const manifest = context.store.manifests.get({ kind, scope, name });
  if (manifest === undefined) throw new Failure("not_found", `${kind} "${scope}/${name}" was deleted`);
  const { workload, problems } = resolveStored(context, { ...manifest, spec: release.spec });
  refuseUnresolved(problems);
  const { imageId } = release;
  const { image: ref, pullable } = workload;
  const hash = specHash(manifest.kind, release.spec);
  const imageRef =
    imageId === undefined
      ? await ensureImage(context, { ...workload, hash })
      : (await knownImage(context, release, { imageId, digest: undefined, ref, pullable })).id;
  for (const network of [context.names.network, ...workload.container.networks]) {
    await context.engine.ensureNetwork(network);
  }
  await ensureVolumes(context, workload.container);
  const template = { ...workload.container, nanoCpus: undefined, memoryBytes: undefined };
  const spec = oneOffSpec(
    template,
    {
      ...releaseContainers(release),
      containerName: step.nameFor(release),
      replicaId: release.id,
      role: "release",
      releaseId: release.id,
      imageRef,
      command: step.argv,
      createdAt: context.clock.now(),
    },
    context.names,
  );
  const never = new AbortController().signal;
  const onOutput = (bytes: Uint8Array) => transcript.write(bytes);
  return runOneOff(context, { spec, timeoutMs: step.timeoutMs, signal: never, leave, onOutput, onEnded });
}
