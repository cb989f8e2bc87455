import { systemClock } from "../../../base/words/clock.ts";
import type { InspectedPod } from "../pod.ts";
import { unreachable } from "./errors.ts";
import { isPassing, nextStop } from "./exit-wait.ts";
import type { LogSource } from "./log-stream.ts";

/** How long one question to the engine stays open before the state is read again. */
const holdMs = 300_000;
/** Between two questions to an engine that is away. */
const retryMs = 1_000;

/** Resolves when `run` of a container has ended, also where the container runs again or is gone. The engine may be away meanwhile. */
export async function runEnd(
  { engine, inspect }: LogSource,
  { id, startedAt }: Pick<InspectedPod, "id" | "startedAt">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const container = await inspect(id);
      const runs = container?.state === "running" || container?.state === "paused";
      if (!runs || container.startedAt !== startedAt) return;
      await engine.call(
        { verb: "wait for", subject: `container "${container.name}"` },
        (docker, own) => nextStop(docker, id, AbortSignal.any([own, signal])),
        holdMs,
      );
    } catch (error) {
      if (signal.aborted) return;
      if (engine.closed.aborted) throw unreachable("the connection was closed", error);
      if (!isPassing(error)) throw error;
      await systemClock.sleep(retryMs, AbortSignal.any([signal, engine.closed]));
    }
  }
}
