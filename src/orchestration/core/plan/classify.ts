import type { RestartPolicy } from "../workload.ts";
import type { PlannedPod, PlanWorkload } from "./pod.ts";

export type PodClass =
  | "foreign"
  | "leaving"
  | "frozen"
  | "held"
  | "untouchable"
  | "outdated-down"
  | "outdated-ready"
  | "outdated-starting"
  | "broken"
  | "ended"
  | "down"
  | "ready"
  | "starting";

interface Facts {
  pod: PlannedPod;
  current: boolean;
  frozen: boolean;
  restart: RestartPolicy;
}

interface Rule {
  is: PodClass;
  when: (facts: Facts) => boolean;
}

/** Ordered; the first that holds decides. */
const rules: readonly Rule[] = [
  // Init and release containers carry a replica's labels but belong to the code that runs them.
  { is: "foreign", when: ({ pod }) => pod.role !== undefined },
  // The engine or we are already at it; a second removal would only race the first.
  { is: "leaving", when: ({ pod }) => pod.state === "removing" || pod.departing === true },
  // An operator stopped it on purpose, whatever state it is in by now.
  { is: "frozen", when: ({ frozen }) => frozen },
  // A run of ours has it in hand, and gives it back: it is still a replica that is wanted, and one that does not serve.
  { is: "held", when: ({ pod }) => pod.held !== undefined },
  // Somebody paused it by hand, or the engine does not say: acting on a guess may destroy what is being looked at.
  { is: "untouchable", when: ({ pod }) => pod.state === "paused" || pod.state === "unknown" },
  // Nothing of it runs and its version is not wanted back: replaced without ceremony.
  { is: "outdated-down", when: ({ pod, current }) => !current && isStopped(pod) },
  // Old version that serves: goes only when enough others are ready.
  { is: "outdated-ready", when: ({ pod, current }) => !current && isReady(pod) },
  // Old version that does not serve.
  { is: "outdated-starting", when: ({ current }) => !current },
  // The engine failed to remove it once; it can never be started again.
  { is: "broken", when: ({ pod }) => pod.state === "dead" },
  // Made and never started: we were interrupted in between, so no restart policy has a say yet.
  { is: "down", when: ({ pod }) => pod.state === "created" },
  // Over, and its restart policy wants it to stay so.
  { is: "ended", when: ({ pod, restart }) => pod.state === "exited" && !pod.restored && staysEnded(pod, restart) },
  // The engine's own policy does not revive what was killed or stopped by hand: we do.
  { is: "down", when: ({ pod }) => pod.state === "exited" },
  // What we want.
  { is: "ready", when: ({ pod }) => isReady(pod) },
  // Running or restarting, not ready yet.
  { is: "starting", when: () => true },
];

/** Which of the cases above a container of `workload` is. `frozenIds` are replica ids. */
export function classify(pod: PlannedPod, workload: PlanWorkload, frozenIds: ReadonlySet<string>): PodClass {
  const facts: Facts = {
    pod,
    current: isCurrent(pod, workload),
    frozen: pod.frozen || frozenIds.has(pod.replicaId),
    restart: workload.restart,
  };
  return rules.find(({ when }) => when(facts))?.is ?? "starting";
}

/** Made from the wanted spec, not before the last restart or config change, and connected as it was made. */
export function isCurrent(pod: PlannedPod, workload: Pick<PlanWorkload, "hash" | "generation">): boolean {
  return pod.hash === workload.hash && pod.generation >= workload.generation && pod.cutOffFrom === undefined;
}

/** Only a running container that is not held can be ready, whatever a probe said last. */
export function isReady(pod: PlannedPod): boolean {
  return pod.ready && pod.state === "running" && pod.held === undefined;
}

/** What sets an outdated container apart from the wanted ones, for people. */
export function whyOutdated(pod: PlannedPod, workload: PlanWorkload): string {
  if (pod.cutOffFrom !== undefined) return `cut off from network "${pod.cutOffFrom}"`;
  return pod.hash === workload.hash ? "made before the last restart or config change" : "made from another spec";
}

function isStopped(pod: PlannedPod): boolean {
  return pod.state === "created" || pod.state === "exited" || pod.state === "dead";
}

function staysEnded(pod: PlannedPod, restart: RestartPolicy): boolean {
  switch (restart.name) {
    case "no":
      return true;
    case "on-failure":
      return pod.exitCode === 0 || (restart.maximumRetryCount > 0 && pod.restarts >= restart.maximumRetryCount);
    case "always":
    case "unless-stopped":
      return false;
  }
}
