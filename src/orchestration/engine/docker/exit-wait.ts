import type Dockerode from "dockerode";
import { Failure } from "../../../base/wire/failure.ts";
import { systemClock } from "../../../base/words/clock.ts";
import type { InspectedPod } from "../pod.ts";
import type { Engine } from "../engine.ts";
import type { DockerClient } from "./client.ts";
import type { Inspect } from "./containers.ts";
import { missing } from "./errors.ts";
import { openStream } from "./open-stream.ts";

interface ExitWaitParts {
  engine: DockerClient;
  inspect: Inspect;
  /** How long one question to the engine may stay open before the state is read again. */
  holdMs: number;
}

type Exit = Awaited<ReturnType<Engine["wait"]>>;

/** See `Engine.wait`. The engine's own wait only says when to look: what counts is the state, read before and after. */
export function createExitWait(parts: ExitWaitParts): Pick<Engine, "wait"> {
  return {
    wait: async ({ id }, signal) => {
      for (;;) {
        signal.throwIfAborted();
        const exit = await onceMore(parts, id, signal);
        if (exit !== undefined) return exit;
      }
    },
  };
}

/** Between two questions, so that an engine that is away, or answers at once, does not keep us busy. */
const pauseMs = 250;

async function onceMore(
  { engine, inspect, holdMs }: ExitWaitParts,
  nameOrId: string,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  const subject = `container "${nameOrId}"`;
  try {
    const container = await inspect(nameOrId);
    if (container === undefined) throw missing(subject);
    const exit = exitOf(container);
    if (exit !== undefined) return exit;
    const hint = (docker: Dockerode, own: AbortSignal) =>
      nextStop(docker, container.id, AbortSignal.any([own, signal]));
    await engine.call({ verb: "wait for", subject }, hint, holdMs);
    const after = await inspect(container.id);
    if (after !== undefined && exitOf(after) !== undefined) return exitOf(after);
  } catch (error) {
    signal.throwIfAborted();
    if (!isPassing(error) || engine.closed.aborted) throw error;
  }
  await systemClock.sleep(pauseMs, signal);
  return undefined;
}

/** Resolves when the container stops. The engine sends the head of its answer at once, and the rest then. */
export async function nextStop(docker: Dockerode, id: string, signal: AbortSignal): Promise<void> {
  const request = { method: "POST" as const, path: `/containers/${id}/wait`, query: {}, signal };
  for await (const _ of await openStream(docker, request));
}

export function isPassing(error: unknown): boolean {
  return error instanceof Failure && (error.code === "unavailable" || error.code === "timeout");
}

/** Undefined while it runs, or will again by its restart policy. */
function exitOf({ name, state, exitCode, oomKilled, error, finishedAt }: InspectedPod): Exit | undefined {
  if (state === "created") {
    throw new Failure("conflict", `cannot wait for container "${name}": it was never started; start it first`);
  }
  const hasEnded = state === "exited" || state === "dead";
  return hasEnded ? { exitCode: exitCode ?? 0, oomKilled, error, finishedAt } : undefined;
}
