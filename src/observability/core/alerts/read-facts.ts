import type { ListedManifest } from "../../../orchestration/api/apply.ts";
import type { Condition, PodKindStatus } from "../../../orchestration/api/describe.ts";
import type { JobRun } from "../../../orchestration/api/jobs.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import { podKinds } from "../../../orchestration/api/manifest.ts";
import type { Release } from "../../../orchestration/api/releases.ts";
import type { CertificateView } from "../../../ingress/api/certificates.ts";
import type { AppFact, CertificateFact, ReleaseFact, RunFact } from "./facts.ts";

/** A listed manifest as a fact; undefined for what has no replicas. */
export function appFactOf(
  { kind, scope = "", name, status }: ListedManifest,
  releases: readonly Release[],
): AppFact | undefined {
  if (!podKinds.some((known) => known === kind) || status === undefined) return undefined;
  const {
    phase = "progressing",
    replicas = 0,
    ready_replicas: ready = 0,
    conditions = [],
  } = status as Partial<PodKindStatus>;
  const cause = causeOf(conditions);
  const release = releaseFact(releases);
  return {
    ...{ kind, scope, name, phase, wanted: replicas, ready },
    reason:
      cause?.reason === "ReleaseFailed" && ready < replicas && hasLooped(releases[0])
        ? "CrashLoop"
        : (cause?.reason ?? ""),
    message: cause?.message ?? "",
    hasServed: releases.some(({ status }) => status === "succeeded"),
    ...(release === undefined ? {} : { release }),
  };
}

/** Until its replicas are seen to crash once more, the failed release alone tells of it. */
function hasLooped(release: Release | undefined): boolean {
  return release?.status === "failed" && release.reasons?.includes("CrashLoop") === true;
}

/** The condition that explains most; undefined while all is well. */
function causeOf(conditions: readonly Condition[]): Condition | undefined {
  const degraded = conditions.find(({ type, status }) => type === "Degraded" && status);
  return degraded ?? conditions.find(({ type, status }) => type === "Ready" && !status);
}

/** Ended by a person or by a newer release: no fault of the release. */
const noFault = ["Superseded", "Aborted"];

/** `releases` are newest first. */
function releaseFact(releases: readonly Release[]): ReleaseFact | undefined {
  const index = releases.findIndex(
    ({ status, cause, reasons = [] }) =>
      (status === "succeeded" || status === "failed") &&
      cause !== "auto_rollback" &&
      !reasons.some((reason) => noFault.includes(reason)),
  );
  const release = releases[index];
  if (release === undefined) return undefined;
  return {
    id: release.id,
    status: release.status,
    ...(release.ended_at === undefined ? {} : { endedAt: Date.parse(release.ended_at) }),
    error: release.error ?? "",
    takenBack: releases.slice(0, index).some(({ cause }) => cause === "auto_rollback"),
  };
}

const undecided = ["scheduled", "running", "skipped", "cancelled"];

/**
 * Of each job that still exists the newest run that was decided, and the newest missed one, until a run that came later
 * than that was noted; `runs` are newest first.
 */
export function runFactsOf(runs: readonly JobRun[], manifests: readonly ListedManifest[]): RunFact[] {
  const existing = new Set(manifests.map(keyText));
  const decided = runs.filter((run) => existing.has(keyText(run)) && !undecided.includes(run.status));
  return [...Map.groupBy(decided, keyText).values()].flatMap((own) => {
    const ran = own.find(({ status }) => status !== "missed");
    const missed = own.find(({ status }) => status === "missed");
    // The backlog of a start is missed but for its newest instant, whose run makes up for none of the others.
    const isOver = missed !== undefined && ran !== undefined && dueOf(ran) > noted(missed);
    return [ran, isOver ? undefined : missed].flatMap((run) => (run === undefined ? [] : [runFact(run)]));
  });
}

const timeOf = (text: string | undefined) => Date.parse(text ?? "") || 0;
const noted = (run: JobRun) => timeOf(run.ended_at ?? run.started_at ?? run.instant);
/** When a run was to begin; one that was asked for by hand has no instant. */
const dueOf = (run: JobRun) => timeOf(run.instant ?? run.started_at ?? run.ended_at);

function runFact(run: JobRun): RunFact {
  const { kind, scope, name, status, error = "" } = run;
  return { kind, scope, name, status, at: noted(run), error };
}

export function certificateFact({ names, state, not_after: until, error = "" }: CertificateView): CertificateFact {
  const expiresAt = until === undefined ? undefined : Date.parse(until);
  return { host: names[0] ?? "", state, error, expiresAt };
}
