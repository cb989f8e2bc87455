import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { mountIdentity } from "../../src/identity/http/manage/mount.ts";
import { limits } from "../../src/config/config.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import type { Management } from "../../src/identity/service/manage/manage.ts";
import type { Log } from "../../src/base/words/log.ts";
import { createRecordingController } from "./recording-controller.ts";

export interface ManageAnswer {
  status: number;
  /** `data` of the envelope; empty for an error. */
  data: Record<string, unknown>;
  error: string;
  text: string;
}

export type Manage = (request: string, body?: unknown) => Promise<ManageAnswer>;

/** The orchestration plane in process, for what is below `/identity`. A string body is sent as it is, else as JSON. */
export function manageFetch(identity: Management, log: Log): (request: string, body?: unknown) => Promise<Response> {
  const { controller } = createRecordingController();
  const app = createOrchestrationApp({
    controller,
    mountOthers: (plane, paging) => mountIdentity(plane, identity, paging),
    version: "test",
    names: naming(),
    log,
    limits,
  });
  return async (request, body) => {
    const [method = "", target = ""] = request.split(" ", 2);
    const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    return app.fetch(
      new Request(`http://localhost${target}`, sent === undefined ? { method } : { method, body: sent }),
    );
  };
}

/** The same with answers taken apart. */
export function managePlane(identity: Management, log: Log): Manage {
  const ask = manageFetch(identity, log);
  return async (request, body) => {
    const response = await ask(request, body);
    const text = await response.text();
    const envelope = parse(text);
    return { status: response.status, data: envelope.data ?? {}, error: envelope.error ?? "", text };
  };
}

/** A stream is no envelope. */
function parse(text: string): { data?: Record<string, unknown>; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
