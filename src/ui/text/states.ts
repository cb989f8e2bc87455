import type { JobView } from "../../observability/api/jobs.ts";
import type { App, AppState, ReplicaState, Severity } from "../../observability/api/app-model.ts";

/** How a state looks. `good` is for what is well and for nothing else: a crash loop is never green. */
export type Tone = "good" | "work" | "warn" | "bad" | "idle";

export const appTones: Record<AppState, Tone> = {
  ready: "good",
  asleep: "idle",
  stopped: "idle",
  deploying: "work",
  unknown: "warn",
  degraded: "warn",
  failing: "bad",
  crashing: "bad",
  down: "bad",
};

export const replicaTones: Record<ReplicaState, Tone> = {
  ready: "good",
  starting: "work",
  unready: "warn",
  stopping: "idle",
  stopped: "idle",
  crashing: "bad",
  exited: "warn",
  unknown: "warn",
};

export const severityTones: Record<Severity, Tone> = { critical: "bad", warning: "warn", notice: "work" };

/** The tone of releases, runs, operations and builds. A word that is not known is not a good one. */
export function outcomeTone(status: string): Tone {
  if (/^(?:succeeded|ok|valid)$/.test(status)) return "good";
  if (/^(?:running|pending|building|queued|scheduled|started)$/.test(status)) return "work";
  if (/^(?:failed|timed_out|missed|expired|crashed)$/.test(status)) return "bad";
  return "warn";
}

/** Why a release was made, as words: `auto_rollback` is an automatic rollback. */
export function causeText(cause: string): string {
  return cause === "auto_rollback" ? "automatic rollback" : cause.replaceAll("_", " ");
}

/** `running` would read as if the app ran. */
export function releaseStateText(status: string): string {
  return status === "running" ? "under way" : status;
}

/** Who made a release: a token by its name. */
export function byText({ actor, actor_name: name }: { actor?: string; actor_name?: string }): string {
  return name ?? actor ?? "berth";
}

/** The addresses of an app; `why` tells what keeps one from opening now. */
export function reachOf({ hosts, state, summary }: Pick<App, "hosts" | "state" | "summary">) {
  return hosts
    .filter(({ host }) => !host.startsWith("*"))
    .map(({ url, certificate }) => {
      const isUp = appTones[state] === "good" || state === "asleep" || state === "degraded" || state === "deploying";
      if (!isUp) return { url, why: `It does not open yet: the app is ${state}, ${summary}` };
      if (certificate === undefined || certificate.state === "valid") return { url };
      const told = certificate.error === undefined ? "it is asked for now" : certificate.error;
      return { url, why: `Browsers warn of it: its certificate is ${certificate.state}; ${told}` };
    });
}

/** The newest run that succeeded, as far as the history of the job goes back. */
export function lastSuccess({ runs }: Pick<JobView, "runs">) {
  return runs.find(({ status }) => status === "succeeded");
}
