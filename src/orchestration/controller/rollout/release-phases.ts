import { Failure } from "../../../base/wire/failure.ts";
import type { Log } from "../../../base/words/log.ts";
import type { ReleaseRecord } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import { failureCalls, recordFailure } from "./failed-release.ts";
import { takeImage } from "../desired/images.ts";
import { type KeyText, keyText } from "../../api/manifest-key.ts";
import type { ReleasePhases } from "../state/release-phase-room.ts";
import {
  awaitsPost,
  codeOf,
  type Outcome,
  releaseContainers,
  runReleaseStep,
  type Step,
  stepsOf,
  timeoutOf,
} from "./release-step.ts";
import { createTranscripts } from "./release-transcripts.ts";
import { resolveStored } from "../desired/resolve.ts";
import type { Transcript } from "../state/transcript.ts";
import { outlive } from "../state/one-off.ts";

const logCharsKept = 64 * 1024;
const claimsKept = 1_000;
/** Pause after what an engine that was away made impossible. */
const againMs = 2_000;

export function createReleasePhases(contextOf: () => Context, log: Log): ReleasePhases {
  const transcripts = createTranscripts((id) => contextOf().store.releases.get(id));
  const underWay = new Set<string>();
  /** The end of what each resource has to run: its commands never run side by side. */
  const lines = new Map<KeyText, Promise<void>>();
  const claimed = new Set<string>();
  const closing = new AbortController();

  function inLine(release: ReleaseRecord, part: string, work: () => Promise<void>): void {
    const id = `${release.id} ${part}`;
    if (underWay.has(id) || closing.signal.aborted) return;
    underWay.add(id);
    const line = keyText(release);
    const task = (lines.get(line) ?? Promise.resolve())
      .then(work)
      .catch((error) => again(release, error))
      .finally(() => {
        underWay.delete(id);
        if (lines.get(line) === task) lines.delete(line);
      });
    lines.set(line, task);
  }

  function again(release: ReleaseRecord, error: unknown): void {
    if (closing.signal.aborted) return;
    if (error instanceof Failure) log.info("release waits", { release: release.id, error: error.message });
    else log.error("release bug", { release: release.id, error });
    contextOf().enqueue(release, againMs);
  }

  function phaseOf(release: ReleaseRecord): Phase {
    return { release, transcript: transcripts.of(release.id), leave: closing.signal };
  }

  return {
    takeUp(release) {
      if (!contextOf().gate.isOpen()) return;
      if (release.status === "pending") inLine(release, "before", () => runBefore(contextOf(), phaseOf(release)));
      else if (awaitsPost(release)) inLine(release, "after", () => runAfter(contextOf(), phaseOf(release)));
    },
    transcript: transcripts.of,
    settle: transcripts.settle,
    claim(id) {
      if (claimed.has(id)) return false;
      claimed.add(id);
      const [oldest] = claimed;
      if (claimed.size > claimsKept && oldest !== undefined) claimed.delete(oldest);
      return true;
    },
    async close() {
      closing.abort();
      await Promise.all(lines.values());
    },
  };
}

interface Phase {
  release: ReleaseRecord;
  transcript: Transcript;
  /** Aborts when the server stops. */
  leave: AbortSignal;
}

/** pre_command, then command; then the replicas may be replaced. What is recorded as done is not done again. */
async function runBefore(context: Context, phase: Phase): Promise<void> {
  const { release, transcript, leave } = phase;
  await clearTheWay(context, release, leave);
  for (const step of stepsOf(release).filter(({ when }) => when === "before")) {
    const known = context.store.releases.now(release);
    // Superseded, or its resource deleted: its next command is not wanted any more.
    if (known?.status !== "pending") return;
    if (codeOf(known, step) === 0) continue;
    transcript.heading(`Release ${release.id}: ${step.name}`);
    const record = (outcome: Outcome) => stepEnded(context, phase, { step, outcome });
    const { code } = await runReleaseStep(context, { release, step, transcript, leave, record });
    if (code !== 0) return;
  }
  await passed(context, phase);
}

async function stepEnded(
  context: Context,
  { release, transcript }: Phase,
  { step, outcome }: { step: Step; outcome: Outcome },
): Promise<void> {
  const { code, text: error, reasons } = outcome;
  const commands = { [step.codeField]: code, log: transcript.text().slice(-logCharsKept) };
  if (code === 0) {
    await context.store.write((tx) => {
      const known = tx.releases.now(release);
      if (known?.status === "pending") tx.releases.put({ ...known, ...commands });
    });
    return;
  }
  const calls = await failureCalls(context, { release, error, image: release.image });
  await context.store.write((tx) => {
    const { kind, scope, name } = release;
    const failure = { error, reasons };
    const after = recordFailure(context, tx, { release, failure, commands, calls, now: context.clock.now() });
    // The old replicas never stopped serving.
    if (after.is === "kept" || after.is === "alone") tx.manifests.touch({ kind, scope, name });
  });
  context.outbox.wake();
}

async function passed(context: Context, { release, transcript }: Phase): Promise<void> {
  const { kind, scope, name } = release;
  const key = { kind, scope, name };
  const frozen = context.store.frozen.list(key);
  const running = context.pods.of(key).filter((pod) => pod.role === undefined && !frozen.includes(pod.replicaId));
  const replicas = running.length;
  if (replicas > 0) transcript.heading(`Release ${release.id}: ${replacing(context, release, replicas)}`);
  await context.store.write((tx) => {
    const known = tx.releases.now(release);
    if (known?.status !== "pending") return;
    tx.releases.put({ ...known, status: "running" });
    takeImage(tx, known, context.clock.now());
    // Nothing in the spec differs, and yet everything is to be recreated.
    if (known.cause === "release_run") tx.manifests.raiseGeneration(key);
    else tx.manifests.touch(key);
  });
}

/** What happens to the replicas now, in the words of the strategy. */
function replacing(context: Context, { kind, scope, name, spec }: ReleaseRecord, replicas: number): string {
  const manifest = context.store.manifests.get({ kind, scope, name });
  const strategy = manifest && resolveStored(context, { ...manifest, spec }).workload.rollout.strategy;
  if (strategy === "recreate") return `replacing ${replicas} replica(s), the old ones stop first (recreate)`;
  return `rolling restart of ${replicas} replica(s)`;
}

/** Its failure is recorded and does not fail the release. */
async function runAfter(context: Context, phase: Phase): Promise<void> {
  const { release, transcript, leave } = phase;
  await clearTheWay(context, release, leave);
  for (const step of stepsOf(release).filter(({ when }) => when === "after")) {
    transcript.heading(`Release ${release.id}: ${step.name}`);
    await runReleaseStep(context, { release, step, transcript, leave, record });
  }

  async function record({ code, text }: Outcome): Promise<void> {
    if (code !== 0) transcript.heading(`Release ${release.id}: post_command ended with exit code ${code}, recorded`);
    await context.store.write((tx) => {
      const known = tx.releases.now(release);
      const log = transcript.text().slice(-logCharsKept);
      if (known === undefined) return;
      tx.releases.put({ ...known, postExitCode: code, log });
      if (code === 0) return;
      const { kind, scope, name, id } = known;
      const detail = { release: id, error: text };
      const action = "release.post_failed";
      tx.events.append({ actor: "reconciler", action, kind, scope, name, detail }, context.clock.now());
    });
    context.releasePhases.settle();
  }
}

/**
 * Before a release runs a command: those of other releases of its resource, left running by a server that ended, are
 * waited for, at most until their time is up. A migration is never cut off, and never has company.
 */
async function clearTheWay(context: Context, release: ReleaseRecord, leave: AbortSignal): Promise<void> {
  const found = await context.engine.observe(releaseContainers(release));
  const done = new Set(
    stepsOf(release).flatMap((step) => (codeOf(release, step) === undefined ? [] : [step.nameFor(release)])),
  );
  for (const pod of found.filter(({ identity }) => identity?.role === "release")) {
    const owner = pod.identity?.releaseId ?? "";
    if (owner === release.id && !done.has(pod.name)) continue;
    const timeoutMs = timeoutOf(context.store.releases.get(owner));
    await outlive(context, pod, { timeoutMs, leave });
  }
}
