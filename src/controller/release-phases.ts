import type { StoredManifest } from "../api/manifest.ts";
import type { Log } from "../lib/log.ts";
import type { ReleaseRecord } from "../store/store.ts";
import type { Context } from "./context.ts";
import { takeImage } from "./images.ts";
import { deployCalls, putCalls } from "./hooks.ts";
import type { ReleasePhases } from "./release-phase-engine.ts";
import { runReleaseStep, type Step, stepsOf } from "./release-step.ts";
import { lastGoodBefore, putBack, updateRelease } from "./releases.ts";
import { createTranscript, type Transcript } from "./transcript.ts";

const transcriptCharsMax = 1024 * 1024;
const transcriptsKept = 200;
const logCharsKept = 64 * 1024;

export function createReleasePhases(contextOf: () => Context, log: Log): ReleasePhases {
  const transcripts = new Map<string, Transcript>();
  const running = new Map<string, Promise<void>>();
  const claimed = new Set<string>();
  const closing = new AbortController();

  function transcript(id: string): Transcript {
    const known = transcripts.get(id);
    if (known !== undefined) return known;
    const made = createTranscript(transcriptCharsMax);
    transcripts.set(id, made);
    const [oldest] = transcripts.keys();
    if (transcripts.size > transcriptsKept && oldest !== undefined) transcripts.delete(oldest);
    return made;
  }

  function background(id: string, release: ReleaseRecord, work: () => Promise<void>): void {
    if (running.has(id) || closing.signal.aborted) return;
    const task = work()
      .catch((error) => log.error("release phase failed", { release: release.id, error }))
      .finally(() => {
        running.delete(id);
        settleOne(release.id);
      });
    running.set(id, task);
  }

  function settleOne(id: string): void {
    const lines = transcripts.get(id);
    if (lines === undefined || lines.ended || running.has(id) || running.has(postOf(id))) return;
    const release = contextOf().store.releases.get(id);
    if (release !== undefined && release.endedAt === undefined) return;
    // One that has just succeeded is about to run its post command.
    if (release?.status === "succeeded" && lines.text() !== "") return;
    if (lines.text() === "") lines.write(release?.log ?? "");
    const line = release?.status === "succeeded" ? "succeeded" : `failed: ${release?.error ?? "it was deleted"}`;
    lines.write(`-----> Release ${id} ${line}\n`);
    lines.end();
  }

  function finish(release: ReleaseRecord, line: string): void {
    const lines = transcript(release.id);
    lines.write(`-----> Release ${release.id} ${line}\n`);
    lines.end();
  }

  const tools: PhaseTools = { transcript, finish, signal: closing.signal };
  return {
    transcript,
    settle() {
      for (const id of transcripts.keys()) settleOne(id);
    },
    ensure: (manifest, release) =>
      background(release.id, release, () =>
        runPhase(contextOf(), tools, { manifest, release, transcript: transcript(release.id) }),
      ),
    rolledOut: (release) => background(postOf(release.id), release, () => runPost(contextOf(), tools, release)),
    failed: (release, error) => finish(release, `failed: ${error}`),
    claim(id) {
      if (claimed.has(id)) return false;
      claimed.add(id);
      return true;
    },
    async close() {
      closing.abort();
      await Promise.all(running.values());
    },
  };
}

/** Name of the task that runs the post command. */
function postOf(id: string): string {
  return `${id}-post`;
}

interface PhaseTools {
  transcript(id: string): Transcript;
  finish(release: ReleaseRecord, line: string): void;
  /** Aborts when the server stops: the containers go on and are found again. */
  signal: AbortSignal;
}

interface Phase {
  manifest: StoredManifest;
  release: ReleaseRecord;
  transcript: Transcript;
}

/** pre_command, then command; then the replicas may be replaced. */
async function runPhase(context: Context, tools: PhaseTools, { manifest, release, transcript }: Phase): Promise<void> {
  for (const step of stepsOf(release.spec).filter(({ when }) => when === "before")) {
    transcript.write(`-----> Release ${release.id}: ${step.name}\n`);
    const exitCode = await runReleaseStep(context, { manifest, release, step, transcript, signal: tools.signal });
    if (tools.signal.aborted) return;
    await updateRelease(context, release, {
      ...codeOf(step, exitCode.code),
      log: transcript.text().slice(-logCharsKept),
    });
    if (exitCode.code !== 0) return phaseFailed(context, tools, { release, error: exitCode.text });
  }
  await passed(context, release, transcript);
}

function codeOf(step: Step, code: number): Partial<ReleaseRecord> {
  if (step.name === "pre_command") return { preExitCode: code };
  return step.name === "command" ? { exitCode: code } : { postExitCode: code };
}

async function passed(context: Context, release: ReleaseRecord, transcript: Transcript): Promise<void> {
  const key = { kind: release.kind, scope: release.scope, name: release.name };
  const rolls = await context.store.write((tx) => {
    const known = tx.releases.get(release.id);
    if (known?.status !== "pending") return false;
    tx.releases.put({ ...known, status: "running" });
    takeImage(tx, known, context.clock.now());
    // Nothing in the spec differs, and yet everything is to be made anew.
    if (known.cause === "release_run") tx.manifests.raiseGeneration(key);
    else tx.manifests.touch(key);
    return true;
  });
  if (!rolls) return;
  const replicas = context.pods.of(key).filter((pod) => pod.role === undefined).length;
  if (replicas > 0) transcript.write(`-----> Release ${release.id}: rolling restart of ${replicas} replica(s)\n`);
  context.enqueue(key);
}

/** The old replicas never stopped serving; with `auto_rollback` their spec is what is stored again, too. */
async function phaseFailed(
  context: Context,
  tools: PhaseTools,
  { release, error }: { release: ReleaseRecord; error: string },
): Promise<void> {
  const key = { kind: release.kind, scope: release.scope, name: release.name };
  const calls = await failureCalls(context, release, error);
  await context.store.write((tx) => {
    const now = context.clock.now();
    const known = tx.releases.get(release.id);
    const stored = tx.manifests.get(key);
    if (known?.status !== "pending" || stored === undefined) return;
    tx.releases.put({ ...known, status: "failed", endedAt: now, error });
    const detail = { release: release.id, error };
    tx.events.append({ actor: "reconciler", action: "release.failed", ...key, detail }, now);
    putCalls(tx, calls);
    const goal = lastGoodBefore(tx.releases.list(key), release);
    const rollout = stored.spec.rollout;
    const kept =
      typeof rollout === "object" && rollout !== null && "auto_rollback" in rollout && !rollout.auto_rollback;
    if (goal !== undefined && !kept) {
      putBack(context, tx, { stored, goal, cause: "auto_rollback", actor: "reconciler", why: error });
    } else tx.manifests.touch(key);
  });
  context.outbox.wake();
  tools.finish(release, error);
  context.enqueue(key);
}

async function failureCalls(context: Context, release: ReleaseRecord, error: string) {
  const manifest = context.store.manifests.get(release);
  if (manifest === undefined) return [];
  const { id: releaseId, image, startedAt } = release;
  return deployCalls(context, { manifest, releaseId, image, startedAt, error });
}

/** Its failure is recorded and does not fail the release. */
async function runPost(context: Context, tools: PhaseTools, release: ReleaseRecord): Promise<void> {
  const transcript = tools.transcript(release.id);
  const manifest = context.store.manifests.get(release);
  for (const step of stepsOf(release.spec).filter(({ when }) => when === "after")) {
    if (manifest === undefined) break;
    transcript.write(`-----> Release ${release.id}: ${step.name}\n`);
    const { code } = await runReleaseStep(context, { manifest, release, step, transcript, signal: tools.signal });
    if (tools.signal.aborted) return;
    await recordPost(context, release, code);
    if (code !== 0)
      transcript.write(`-----> Release ${release.id}: ${step.name} ended with exit code ${code}, recorded\n`);
  }
  tools.finish(release, "succeeded");
}

async function recordPost(context: Context, release: ReleaseRecord, code: number): Promise<void> {
  await context.store.write((tx) => {
    const known = tx.releases.get(release.id);
    if (known !== undefined) tx.releases.put({ ...known, postExitCode: code });
  });
}
