import type { ProbeFigures } from "../../api/pod-measure.ts";
import type { Readiness } from "../../api/pods.ts";
import type { FailingProbe } from "../../core/probe-failing.ts";
import type { Pod } from "./pod.ts";

/** Runs the probes of all pods, and knows from memory which are ready. */
export interface ProbeRoom {
  /** Takes the pods of a resource as they are now: new ones get runners, restarted ones start again, gone ones end. */
  watch(pods: readonly Pod[]): void;
  /** Undefined for a pod that declares no probes. */
  readiness(pod: Pod): ProbeReadiness | undefined;
  /** Whether a startup or readiness probe of the pod says when it is ready. */
  answersFor(pod: Pod): boolean;
  /** The probe that keeps a running pod from being ready; undefined while none has failed. */
  failing(pod: Pod): FailingProbe | undefined;
  /** The same in one sentence. */
  hindrance(pod: Pod): string | undefined;
  /** The last exchanges of a container's probes, newest last. */
  exchanges(containerId: string): string[];
  /** What the probes of a container have done since its runner began; undefined without probes. */
  figures(containerId: string): ProbeFigures | undefined;
  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export type ProbeReadiness = Pick<
  Readiness,
  "ready" | "startup_passed" | "readiness_phase" | "reason" | "last_transition"
>;
