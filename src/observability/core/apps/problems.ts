import type { AppFacts } from "../../../orchestration/api/app-facts.ts";
import { keyOf, keyText } from "../../../orchestration/api/manifest-key.ts";
import { type AppHost, type AppProblem, severities } from "../../api/app-model.ts";
import { type Alarm, alarmProblems } from "./alarms.ts";
import type { AppJudgement } from "./state.ts";

const titleMax = 80;
const causeMax = 500;

/** What needs attention about one app, the worst first. Certificates of its hosts are among it, and alerts about it that fire. */
export function appProblems(
  facts: AppFacts,
  judgement: AppJudgement,
  { hosts, alarms }: { hosts: readonly AppHost[]; alarms: readonly Alarm[] },
): AppProblem[] {
  const states = [stateProblem(facts, judgement), releaseProblem(facts, judgement), canaryProblem(facts)];
  const found = [...states.filter((one) => one !== undefined), ...hosts.flatMap((host) => hostProblem(facts, host))];
  return [...found, ...alarmProblems(alarms, found, keyOf(facts))].map(shortened).sort(worstFirst);
}

export function worstFirst(a: AppProblem, b: AppProblem): number {
  // Faults of the machine come before those of apps that are as bad: they explain them.
  const machine = Number(a.app !== undefined) - Number(b.app !== undefined);
  return severities.indexOf(a.severity) - severities.indexOf(b.severity) || machine || compareText(a.id, b.id);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A problem that lasts began with its first sight. A container that starts again and dies again continues it. */
export function sinceFirst(now: readonly AppProblem[], before: readonly AppProblem[]): AppProblem[] {
  return now.map((problem) => {
    const since = before.find(({ id }) => id === problem.id)?.since;
    return since === undefined || (problem.since ?? "") <= since ? problem : { ...problem, since };
  });
}

/** Texts of the engine and of processes can be long. */
export function shortened(problem: AppProblem): AppProblem {
  return { ...problem, title: cut(problem.title, titleMax), cause: cut(problem.cause, causeMax) };
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

const named = ({ scope, name }: AppFacts) => `${scope}/${name}`;
const idOf = (type: string, app: AppFacts) => `${type}/${keyText(app)}`;

/** The same words as the state: one cause is reported once. */
function stateProblem(facts: AppFacts, { state, cause, ready, replicas }: AppJudgement): AppProblem | undefined {
  const who = named(facts);
  const about = { cause: cause ?? "the reason is not known", command: `berth why ${who}`, app: keyOf(facts) };
  const since = sinceOf(facts);
  const rest = { ...about, ...(since === undefined ? {} : { since }) };
  const severity = ready === 0 ? "critical" : "warning";
  if (state === "crashing") {
    const starved = replicas.some((one) => one.state === "crashing" && one.facts.oomKilled);
    const type = starved ? "out_of_memory" : "crash_loop";
    const title = starved ? `${who} runs out of memory` : `${who} crashes again and again`;
    return { id: idOf(type, facts), severity, type, title, ...rest };
  }
  if (state === "down") {
    return { id: idOf("down", facts), severity: "critical", type: "down", title: `${who} is down`, ...rest };
  }
  if (state !== "degraded") return undefined;
  return { id: idOf("not_ready", facts), severity: "warning", type: "not_ready", title: `${who} has a fault`, ...rest };
}

function sinceOf({ status }: AppFacts): string | undefined {
  const conditions = status?.conditions ?? [];
  const degraded = conditions.find(({ type, status: holds }) => type === "Degraded" && holds);
  const unready = conditions.find(({ type, status: holds }) => type === "Ready" && !holds);
  return (degraded ?? unready)?.at;
}

/** Also where the replicas before it serve on: what was asked for does not run. */
function releaseProblem(facts: AppFacts, { ready }: AppJudgement): AppProblem | undefined {
  const { release } = facts;
  if (release?.status !== "failed") return undefined;
  return {
    id: idOf("failed_release", facts),
    severity: ready === 0 ? "critical" : "warning",
    type: "failed_release",
    title: `the last deploy of ${named(facts)} failed`,
    cause: release.error ?? "the reason is not known",
    command: `berth why ${named(facts)}`,
    since: new Date(release.endedAt ?? release.startedAt).toISOString(),
    app: keyOf(facts),
  };
}

function canaryProblem(facts: AppFacts): AppProblem | undefined {
  const { canary } = facts;
  if (canary?.state !== "paused") return undefined;
  return {
    id: idOf("canary_waits", facts),
    severity: "notice",
    type: "canary_waits",
    title: `the canary of ${named(facts)} waits for a person`,
    cause: canary.text,
    command: `berth rollout resume ${named(facts)}`,
    app: keyOf(facts),
  };
}

function hostProblem(facts: AppFacts, { host, certificate }: AppHost): AppProblem[] {
  if (certificate === undefined || certificate.state === "valid") return [];
  if (certificate.state === "pending" && certificate.error === undefined) return [];
  const words = { expired: "has expired", failed: "cannot be issued", pending: "is not issued yet" };
  const what = words[certificate.state as keyof typeof words] ?? `is ${certificate.state}`;
  return [
    {
      id: `certificate/${host}`,
      severity: "critical",
      type: "certificate",
      title: `the certificate of ${host} ${what}`,
      cause: certificate.error ?? what,
      command: "berth certs",
      app: keyOf(facts),
    },
  ];
}
