import type { Controller } from "../../src/orchestration/controller/controller.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { limits } from "../../src/config/config.ts";
import type { World } from "./world.ts";

export interface PlaneAnswer {
  status: number;
  headers: Headers;
  /** `data` of the envelope. */
  data: Record<string, unknown>;
  error: string;
  text: string;
}

export type Ask = (request: string, body?: unknown, headers?: Record<string, string>) => Promise<PlaneAnswer>;

/**
 * The orchestration plane over a world, in process: `ask("POST /apply?dry_run=true", manifest)`. A string body is sent
 * as it is, anything else as JSON. Every answer is checked to be an envelope.
 */
export function plane(it: World): Ask {
  return async (request, body, headers = {}) => {
    const sent = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const response = await fetchPlane(it, request, { headers, ...(sent === undefined ? {} : { body: sent }) });
    return read(response, await response.text());
  };
}

const apps = new WeakMap<Controller, ReturnType<typeof createOrchestrationApp>>();

/** One for each start of the server of a world: to make it takes longer than most requests do. */
function appOf({ controller, log }: World) {
  const made =
    apps.get(controller) ?? createOrchestrationApp({ controller, version: "test", names: naming(), log, limits });
  apps.set(controller, made);
  return made;
}

/** The same for what answers with a stream. */
export async function fetchPlane(it: World, request: string, init: RequestInit = {}): Promise<Response> {
  const [method = "", target = ""] = request.split(" ", 2);
  return appOf(it).fetch(new Request(`http://localhost${target}`, { ...init, method }));
}

function read(response: Response, text: string): PlaneAnswer {
  const envelope = JSON.parse(text) as { status: string; data?: Record<string, unknown>; error?: string };
  const { status, headers } = response;
  const isError = envelope.status === "error" && typeof envelope.error === "string" && envelope.data === undefined;
  const isOk = envelope.status === "ok" && envelope.error === undefined;
  const isRight = status >= 400 && status !== 503 ? isError : isOk || (status === 503 && isError);
  if (!isRight) throw new Error(`status ${status} with ${text}`);
  return { status, headers, data: envelope.data ?? {}, error: envelope.error ?? "", text };
}
