import type { DockerClient } from "./client.ts";
import { askRaw } from "./raw-request.ts";

const attempt = { verb: "ping", subject: "the engine" };

/**
 * See `Machine.ping`. Without a version, which would have to be agreed on first. Not by dockerode: the connection of a request
 * that is given up stays open there until the engine closes it, which one that hangs does not do.
 */
export async function ping({ address, closed }: DockerClient, signal: AbortSignal): Promise<void> {
  const request = { address, line: "GET /_ping", headers: ["Connection: close"], accepts: [200] };
  const { pipe } = await askRaw(attempt, { ...request, signal: AbortSignal.any([closed, signal]) });
  pipe.close();
}
