import type { Duplex } from "node:stream";
import type Dockerode from "dockerode";

interface StreamRequest {
  method: "GET" | "POST";
  /** Without the version prefix. */
  path: string;
  query: Record<string, string | boolean>;
  /** Ends the request, and the stream. */
  signal: AbortSignal;
}

/**
 * The body of an answer as it comes, for calls where dockerode's own would read all of it first: they keep everything
 * in memory, and wait for ever when the connection breaks in the middle. The stream throws then.
 */
export function openStream(
  docker: Dockerode,
  { method, path, query, signal }: StreamRequest,
): Promise<AsyncIterable<Uint8Array>> {
  const request = {
    method,
    path: `${path}?`,
    options: query,
    isStream: true,
    abortSignal: signal,
    statusCodes: { 200: true },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error: unknown, stream: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve(stream as AsyncIterable<Uint8Array>);
    });
  });
}

/**
 * What the engine knows of a thing, where dockerode's own `inspect` takes no signal: a call that is given up would keep its
 * connection for as long as the engine hangs.
 */
export function inspectAt<T>(docker: Dockerode, path: string, abortSignal: AbortSignal): Promise<T> {
  const statusCodes = { 200: true, 404: "not found", 500: "server error" };
  return new Promise((resolve, reject) => {
    docker.modem.dial({ path, method: "GET", statusCodes, abortSignal }, (error: unknown, found: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve(found as T);
    });
  });
}

interface ConnectionRequest {
  /** Without the version prefix, with the query. */
  path: string;
  body?: object;
  headers?: Record<string, string | string[]>;
  /** Ends the attempt, and nothing after it. */
  signal: AbortSignal;
}

/**
 * Posts a request whose connection becomes a raw one in both directions once the engine has agreed. Fails with the
 * engine's words when it refuses instead. Source: Docker Engine API, "Attach to a container", hijacking.
 */
export function openConnection(docker: Dockerode, { path, body, headers, signal }: ConnectionRequest): Promise<Duplex> {
  const request = {
    method: "POST",
    path,
    ...(headers === undefined ? {} : { headers }),
    // Without a body of a stated length, nothing would be sent before the first byte of input.
    options: { _query: {}, _body: body ?? {} },
    allowEmpty: true,
    hijack: true,
    openStdin: true,
    isStream: true,
    abortSignal: signal,
    // An engine that does not name the new protocol answers 200.
    statusCodes: { 101: true, 200: true },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error: unknown, connection: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve(connection as Duplex);
    });
  });
}
