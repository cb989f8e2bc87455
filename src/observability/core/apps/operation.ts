import type { AppFacts } from "../../../orchestration/api/app-facts.ts";
import type { AppJudgement } from "./state.ts";

/** What a change has to reach before it is over. */
export type Goal =
  /** The reconciler has seen what was stored, a release of it has come through, and the app is as wanted. */
  | { type: "settled"; revision: number; generation: number; release: string | undefined }
  /** These replicas do not run any more. */
  | { type: "stopped"; replicaIds: readonly string[] }
  /** No release is under way any more. */
  | { type: "ended" }
  /** There was nothing to wait for. */
  | { type: "done" }
  | { type: "gone" };

type Progress = { state: "running" | "succeeded"; text: string } | { state: "failed"; text: string; error: string };

/** How far a change is, from what is known of its app now. */
export function progressOf(goal: Goal, now: { facts: AppFacts; judgement: AppJudgement } | undefined): Progress {
  if (goal.type === "gone") {
    return now === undefined ? ok("it is gone") : { state: "running", text: "its replicas are being removed" };
  }
  if (now === undefined) return failed("it was deleted");
  const { facts, judgement } = now;
  if (goal.type === "done") return ok(judgement.summary);
  if (goal.type === "stopped") return stopped(goal.replicaIds, facts);
  if (goal.type === "ended") {
    const { release } = facts;
    const isOver = release === undefined || (release.status !== "pending" && release.status !== "running");
    return isOver ? settled(facts, judgement) : { state: "running", text: judgement.deploy ?? judgement.summary };
  }
  const { release } = facts;
  if (goal.release !== undefined && release !== undefined) {
    if (release.id === goal.release && release.status === "failed")
      return failed(release.error ?? "the release failed");
    if (release.id !== goal.release && release.rolledBackFrom !== undefined) {
      return failed(`release ${goal.release} was taken back; ${release.id} runs instead`);
    }
  }
  const status = facts.status;
  const isSeen =
    status !== undefined && status.observedRevision >= goal.revision && status.observedGeneration >= goal.generation;
  if (!isSeen) return { state: "running", text: "about to begin" };
  return settled(facts, judgement);
}

function settled(facts: AppFacts, { state, summary, deploy, cause }: AppJudgement): Progress {
  if (deploy !== undefined) return { state: "running", text: deploy };
  const phase = facts.status?.phase;
  if (state === "ready" || state === "asleep" || state === "stopped") return ok(summary);
  if (phase === "failed" || phase === "failing" || state === "crashing") return failed(cause ?? summary);
  return { state: "running", text: summary };
}

function stopped(replicaIds: readonly string[], { pods }: AppFacts): Progress {
  const left = pods.filter(({ replicaId, state }) => replicaIds.includes(replicaId) && state === "running");
  if (left.length > 0) return { state: "running", text: `${left.length} of ${replicaIds.length} still run` };
  return ok(replicaIds.length === 1 ? "1 replica is stopped" : `${replicaIds.length} replicas are stopped`);
}

function ok(text: string): Progress {
  return { state: "succeeded", text };
}

function failed(error: string): Progress {
  return { state: "failed", text: error, error };
}
