import { Elysia } from "elysia";
import { actorHeader } from "../../api/client.ts";
import { orchestrationEndpoints } from "../../api/orchestration/endpoints.ts";
import type { Controller } from "../../controller/controller.ts";
import type { Naming } from "../../core/naming.ts";
import type { Log } from "../../lib/log.ts";
import { mountApply } from "./apply.ts";
import { mountConfig } from "./config.ts";
import { mountDescribe } from "./describe.ts";
import { mapError } from "./error-mapping.ts";
import { mountEvents } from "./events.ts";
import { mountHealth } from "./health.ts";
import { mountHooks } from "./hooks.ts";
import type { Plane } from "./mount.ts";
import { mountOpenapi } from "./openapi.ts";
import { mountPods } from "./pods.ts";
import { mountReleases } from "./releases.ts";
import { pathOf } from "./request.ts";
import { withRequestLog } from "./request-log.ts";
import { mountResource } from "./resource.ts";
import { mountRestart } from "./restart.ts";
import { createUnknownRoute } from "./unknown-route.ts";

export interface OrchestrationOptions {
  controller: Controller;
  /** As `/health` tells it: `<version> (commit: <hash>)`. */
  version: string;
  names: Naming;
  log: Log;
  limits: { jsonDepthMax: number; eventsPageMax: number };
}

/** The orchestration plane as one function from request to answer; body size and who may ask are the front's work. */
export function createOrchestrationApp(options: OrchestrationOptions): {
  fetch(request: Request): Response | Promise<Response>;
} {
  const { controller, version, names, log, limits } = options;
  const unknownRoute = createUnknownRoute(orchestrationEndpoints);
  const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } });
  app.onError(({ code, error, request }) =>
    code === "NOT_FOUND" ? unknownRoute(request.method, pathOf(request)) : mapError(error, log),
  );
  const plane: Plane = {
    app,
    actorHeader,
    jsonDepthMax: limits.jsonDepthMax,
    mapError: (error) => mapError(error, log),
  };
  mountHealth(plane, controller, version);
  mountApply(plane, controller);
  mountResource(plane, controller);
  mountDescribe(plane, controller);
  mountPods(plane, controller);
  mountConfig(plane, controller);
  mountRestart(plane, controller);
  mountReleases(plane, controller, names.headerPrefix);
  mountHooks(plane, controller, { pageMax: limits.eventsPageMax });
  mountEvents(plane, controller, { pageMax: limits.eventsPageMax });
  mountOpenapi(plane, { title: `${names.prefix} orchestration API`, version });
  return { fetch: withRequestLog(app.fetch, log, plane.actorHeader) };
}
