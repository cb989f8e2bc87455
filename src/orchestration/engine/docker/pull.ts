import type { RegistryAuth } from "../machine.ts";
import type { DockerClient } from "./client.ts";
import { type Attempt, refusal, timedOut } from "./errors.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { jsonLines } from "./json-lines.ts";

interface PullRequest {
  source: { fromImage: string; tag: string };
  auth: RegistryAuth | undefined;
  /** Longest silence. */
  idleMs: number;
}

/** Pulls and reads the progress to its end: only there, in a row of its own, does the engine tell of most errors. */
export async function followPull(engine: DockerClient, attempt: Attempt, request: PullRequest): Promise<void> {
  const watch = createIdleWatch(request.idleMs, engine.held);
  try {
    const rows = jsonLines(await open(engine, attempt, { ...request, signal: watch.signal }));
    for await (const row of rows) {
      watch.progress();
      const words = errorOf(row);
      if (words !== undefined) throw refusal({ status: undefined, words }, attempt);
    }
  } catch (error) {
    throw watch.idle() ? timedOut(attempt, request.idleMs) : engine.failure(error, attempt);
  } finally {
    watch.end();
  }
}

function open(
  engine: DockerClient,
  attempt: Attempt,
  { source, auth, idleMs, signal }: PullRequest & { signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array | string>> {
  const options = { _query: source, _body: {}, abortSignal: signal };
  return engine.call(attempt, (docker) => docker.createImage(registryAuth(auth), options), idleMs);
}

function registryAuth(auth: RegistryAuth | undefined): object | undefined {
  if (auth === undefined) return undefined;
  return { username: auth.username, password: auth.password, serveraddress: auth.serverAddress };
}

function errorOf(row: unknown): string | undefined {
  if (typeof row !== "object" || row === null || !("error" in row)) return undefined;
  return typeof row.error === "string" ? row.error : JSON.stringify(row.error);
}
