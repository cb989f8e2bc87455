import { Readable } from "node:stream";
import { Failure } from "../../../base/wire/failure.ts";
import type { ImageBuild } from "../machine.ts";
import type { DockerClient } from "./client.ts";
import { engineFailure, timedOut } from "./errors.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { jsonLines } from "./json-lines.ts";

/**
 * Builds by the engine's own builder and reads its output to the end: only there does the engine tell of a step that
 * failed. The connection is the life of the build: when it ends, the engine ends the build.
 */
export async function followBuild(engine: DockerClient, request: ImageBuild): Promise<void> {
  const attempt = { verb: "build", subject: `image "${request.ref}"` };
  const { idleMs, signal } = request;
  const watch = createIdleWatch(idleMs, AbortSignal.any([engine.closed, signal]));
  const context = Readable.from(request.context);
  try {
    const options: object = { ...optionsOf(request), abortSignal: watch.signal };
    const answer = await engine.call(attempt, (docker) => docker.buildImage(context, options), idleMs);
    for await (const row of jsonLines(answer as AsyncIterable<Uint8Array | string>)) {
      watch.progress();
      const { output, error } = readRow(row);
      if (output !== undefined) request.onOutput(output);
      if (error !== undefined) throw new Failure("conflict", error, { reason: "BuildFailed" });
    }
  } catch (error) {
    signal.throwIfAborted();
    throw watch.idle() ? timedOut(attempt, idleMs) : engineFailure(error, attempt);
  } finally {
    watch.end();
    context.destroy();
  }
}

function optionsOf({ ref, dockerfile, target, args, labels, memoryBytes, cpuShares }: ImageBuild): object {
  return {
    t: ref,
    dockerfile,
    ...(target === undefined ? {} : { target }),
    buildargs: JSON.stringify(args),
    labels: JSON.stringify(labels),
    rm: true,
    forcerm: true,
    cpushares: cpuShares,
    // Without swap beyond it: a build must not push what runs out of memory.
    ...(memoryBytes === undefined ? {} : { memory: memoryBytes, memswap: memoryBytes }),
  };
}

function readRow(row: unknown): { output?: string | undefined; error?: string } {
  if (typeof row !== "object" || row === null) return {};
  const { stream, status, id, error } = row as Record<string, unknown>;
  if (typeof error === "string") return { error: error.trim() };
  if (typeof stream === "string") return { output: stream };
  // Progress bars of pulls have no id-less line worth keeping.
  return typeof status === "string" && typeof id !== "string" ? { output: `${status}\n` } : {};
}
