import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import type { Outcome } from "../kit.ts";

/**
 * A session on the operator's terminal, in the form that every client knows. Ours runs it through the server where the
 * terminal's machine has no `docker`, or another engine than the server.
 */
export function localSession(pod: PodRecord, command: readonly string[]): Outcome {
  return { message: "", actions: [{ type: "exec_local", command: ["docker", "exec", "-it", pod.name, ...command] }] };
}
