import { parseDuration } from "../../base/pure/duration.ts";
import { parsePercent } from "../../base/pure/percent.ts";
import { fieldsOf, textOf } from "./lenient.ts";
import type { CanaryPolicy, CanaryStep } from "./workload.ts";

/** The pause of a step that waits for a person. */
export const pauseForever = "forever";

/** The steps of a rollout block; a step without a pause lasts `pauseMs`. Undefined: none that can be read is written. */
export function canaryPolicy(rollout: Record<string, unknown>, pauseMs: number): CanaryPolicy | undefined {
  const written: unknown[] = Array.isArray(rollout.canary) ? rollout.canary : [];
  const steps = written.flatMap((step) => stepOf(step, pauseMs));
  const last = steps.at(-1);
  if (last === undefined) return undefined;
  const keepMs = parseDuration(textOf(rollout.keep) ?? "") ?? 0;
  // Old replicas that stay get no requests: the new ones have to take all of them first.
  return { steps: keepMs > 0 && last.share < 1 ? [...steps, { share: 1, pauseMs }] : steps, keepMs };
}

function stepOf(written: unknown, pauseMs: number): CanaryStep[] {
  const { weight, pause } = typeof written === "string" ? { weight: written, pause: undefined } : fieldsOf(written);
  const share = parsePercent(textOf(weight) ?? "");
  if (share === undefined || share === 0) return [];
  if (pause === pauseForever) return [{ share, pauseMs: undefined }];
  return [{ share, pauseMs: parseDuration(textOf(pause) ?? "") ?? pauseMs }];
}
