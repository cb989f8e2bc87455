import type { ReplicaFacts } from "../../../orchestration/api/app-facts.ts";
import type { ReplicaState } from "../../api/app-model.ts";

/** A replica that has run this long since its last end has got over it. */
const calmMs = 60_000;

export interface ReplicaView {
  facts: ReplicaFacts;
  state: ReplicaState;
  reason: string | undefined;
  /** Epoch ms at which time alone may make another state of it. */
  recheckAt: number | undefined;
}

export interface Moment {
  engineUp: boolean;
  /** Epoch ms. */
  now: number;
}

/**
 * How one replica is. A process that ended a moment ago and runs again is not trusted before it has run for a while:
 * between two crashes it looks as well as any other.
 */
export function replicaView(facts: ReplicaFacts, { engineUp, now }: Moment): ReplicaView {
  const view = (state: ReplicaState, reason?: string, recheckAt?: number) => ({ facts, state, reason, recheckAt });
  if (!engineUp) return view("unknown", "the container engine cannot be reached");
  if (facts.leaving || facts.state === "removing") return view("stopping", "being taken out of service");
  if (facts.cannotStart !== undefined) return view("crashing", `cannot start: ${facts.cannotStart}`);
  if (facts.state !== "running") return { ...halted(facts), facts, recheckAt: undefined };
  const { upSince } = facts;
  if (upSince === undefined) {
    return facts.crashes > 1 ? view("crashing", crashText(facts)) : view("starting", crashText(facts));
  }
  const calmAt = upSince + calmMs;
  if (now >= calmAt) return facts.ready ? view("ready") : view("unready", facts.reason ?? "not ready");
  if (facts.oomKilled && facts.crashes > 0) return view("crashing", "ran out of memory", calmAt);
  if (facts.crashes > 1) return view("crashing", crashText(facts), calmAt);
  if (facts.crashes === 1) return view("starting", crashText(facts), calmAt);
  return facts.ready ? view("ready") : view("starting", facts.reason ?? "not ready yet", calmAt);
}

function halted(facts: ReplicaFacts): Pick<ReplicaView, "state" | "reason"> {
  if (facts.frozen) return { state: "stopped", reason: "stopped by hand" };
  if (facts.state === "created") return { state: "starting", reason: "being started" };
  if (facts.state === "paused") return { state: "unready", reason: "paused by hand" };
  // This end counts as well, although nothing has started it again yet.
  const ends = facts.crashes + 1;
  const reason = facts.oomKilled ? "ran out of memory" : endText(facts, ends);
  return { state: ends > 1 || facts.oomKilled ? "crashing" : "exited", reason };
}

function endText({ exitCode }: ReplicaFacts, ends: number): string {
  const code = exitCode === undefined ? "exit code unknown" : `exit code ${exitCode}`;
  return ends > 1 ? `ended ${ends} times in a row, ${code}` : `ended, ${code}`;
}

function crashText({ crashes, exitCode, oomKilled }: ReplicaFacts): string | undefined {
  if (crashes === 0) return undefined;
  const times = crashes === 1 ? "once" : `${crashes} times in a row`;
  const code = exitCode === undefined ? "exit code unknown" : `last exit code ${exitCode}`;
  return `restarted ${times}, ${oomKilled ? "ran out of memory" : code}`;
}
