import type { EngineAddress } from "./client.ts";
import type { Attempt } from "./errors.ts";
import type { Pipe } from "./pipe.ts";
import { askRaw } from "./raw-request.ts";

interface HijackRequest {
  address: EngineAddress;
  /** With the version prefix. */
  path: string;
  body: object;
  /** Ends the attempt, and nothing after it. */
  signal: AbortSignal;
}

/**
 * Posts a request whose connection becomes a raw one in both directions once the engine has agreed. Fails with the
 * engine's words when it refuses instead. Source: Docker Engine API, "Attach to a container", hijacking.
 */
export async function hijack(attempt: Attempt, { address, path, body, signal }: HijackRequest): Promise<Pipe> {
  const text = JSON.stringify(body);
  const headers = [
    "Connection: Upgrade",
    "Upgrade: tcp",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  const request = { address, line: `POST ${path}`, headers, body: text, accepts: [101, 200], signal };
  const { pipe } = await askRaw(attempt, request);
  return pipe;
}
