import type { PodRecord } from "../../src/api/orchestration/pods.ts";
import type { Outcome } from "../kit.ts";
import { type Reference, referenceText } from "./arguments.ts";

/**
 * A session on the operator's terminal. `docker exec` is what clients know how to run; a machine without that program
 * has our own client, which reaches the pod through the server.
 */
export function localSession(of: Reference, pod: PodRecord, command: readonly string[]): Outcome {
  const words =
    Bun.which("docker") === null
      ? ["berth", "exec", "-it", `${referenceText(of)}.${pod.replica_id ?? ""}`, "--", ...command]
      : ["docker", "exec", "-it", pod.name, ...command];
  return { message: "", actions: [{ type: "exec_local", command: words }] };
}
