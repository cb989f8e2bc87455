import { Elysia } from "elysia";
import { operator, type Principal } from "../../access/principal.ts";
import { actorHeader, type Client, versionHeader } from "../../base/wire/client.ts";
import { orchestrationEndpoints } from "../api/endpoints.ts";
import type { Controller } from "../controller/controller.ts";
import type { Naming } from "../core/naming.ts";
import type { Log } from "../../base/words/log.ts";
import type { RequestHead } from "../../base/http/front/request-head.ts";
import type { TakeoverHandler } from "../../base/http/front/takeover.ts";
import { mountApply } from "./apply.ts";
import { mountBuilds } from "./builds.ts";
import { mountConfig } from "./config.ts";
import { mountDescribe } from "./describe.ts";
import { mountDisk } from "./disk.ts";
import { mountDispatch } from "./dispatch.ts";
import { mapError } from "../../base/http/error-mapping.ts";
import { mountEvents, mountHistory } from "./events.ts";
import { execPodRoute, forwardPortRoute, mountExec, runAppRoute, writeFilesRoute } from "./exec.ts";
import { mountHealth } from "./health.ts";
import { podLogsRoute, scopeLogsRoute } from "./logs.ts";
import { mountJobs } from "./jobs.ts";
import { mountWebhooks } from "./webhooks.ts";
import { mountLocks } from "./locks.ts";
import { mountPreviews } from "./previews.ts";
import { createInsideClient } from "../../base/http/inside.ts";
import { createOperatorPlane, type Plane } from "../../base/http/mount.ts";
import { mountOpenapi } from "./openapi.ts";
import { mountPlugins } from "./plugins.ts";
import { mountPods } from "./pods.ts";
import { mountReleases } from "./releases.ts";
import { mountRollouts } from "./rollouts.ts";
import type { CarryOutOnce } from "../../base/http/once.ts";
import { pathOf, readActor } from "../../base/http/request.ts";
import { withHeader } from "../../base/http/with-header.ts";
import { withRequestLog } from "../../base/http/request-log.ts";
import { mountResource } from "./resource.ts";
import { mountAtomic } from "./atomic.ts";
import { mountRestart } from "./restart.ts";
import { mountScale } from "./scale.ts";
import { mountWake } from "./wake.ts";
import { mountStats } from "./stats.ts";
import { createTakeovers } from "./takeovers.ts";
import { createUnknownRoute } from "../../base/http/unknown-route.ts";
import { mountWhy } from "./why.ts";

interface OrchestrationOptions {
  controller: Controller;
  /** Mounts the routes that other services have on this plane; without it those routes do not exist. */
  mountOthers?: (plane: Plane, options: { pageMax: number }) => void;
  /** As `/health` tells it: `<version> (commit: <hash>)`. */
  version: string;
  /** For requests with an `Idempotency-Key`. */
  once?: CarryOutOnce;
  names: Naming;
  log: Log;
  limits: { jsonDepthMax: number; eventsPageMax: number; execInputBytesMax: number; logPingMs: number };
}

/** The orchestration plane; body size and who may ask are the front's work. */
interface OrchestrationApp {
  /** For the listener that only the users of the machine reach whom the kernel vouches for: they are its operators. */
  fetch(request: Request): Response | Promise<Response>;
  /** For the other doors of the server, which know who stands behind them. */
  behind(request: Request, principal: Principal): Response | Promise<Response>;
  /** Calls the same handlers in this process, for another service of this server. */
  as(actor: string, by: Principal): Client;
  /** Claims the requests whose connections become sessions. */
  takeover(head: RequestHead): TakeoverHandler | undefined;
}

export function createOrchestrationApp(options: OrchestrationOptions): OrchestrationApp {
  const { controller, version, names, log, limits } = options;
  const unknownRoute = createUnknownRoute(orchestrationEndpoints);
  const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } });
  app.onError(({ code, error, request }) =>
    code === "NOT_FOUND" ? unknownRoute(request.method, pathOf(request)) : mapError(error, log),
  );
  const principals = new WeakMap<Request, Principal>();
  const plane = createOperatorPlane({
    ...{ app, endpoints: orchestrationEndpoints, actorHeader, principals, once: options.once },
    jsonDepthMax: limits.jsonDepthMax,
    mapError: (error) => mapError(error, log),
  });
  mountOrchestration(plane, options);
  options.mountOthers?.(plane, { pageMax: limits.eventsPageMax });
  mountOpenapi(plane, { title: `${names.prefix} orchestration API`, version });
  const logged = withRequestLog(withHeader(app.fetch, versionHeader, version), {
    log,
    more: (request) => ({ actor: readActor(request, actorHeader) }),
    isQuiet: (request) => isPolled(pathOf(request)),
  });
  const named = (request: Request, principal: Principal) => {
    principals.set(request, principal);
    return request;
  };
  return {
    fetch: (request) => logged(named(request, operator)),
    behind: (request, principal) => logged(named(request, principal)),
    as: (actor, by) => createInsideClient(plane, plane.servedBy, { actor, by }),
    takeover: createTakeovers(
      [execPodRoute, forwardPortRoute, writeFilesRoute, runAppRoute, podLogsRoute, scopeLogsRoute],
      {
        controller,
        names,
        log,
        limits,
      },
    ),
  };
}

/** Mounts what the controller does. The plane serves those that are in its list. */
export function mountOrchestration(
  plane: Plane,
  { controller, version, names, limits }: Pick<OrchestrationOptions, "controller" | "version" | "names" | "limits">,
): void {
  mountHealth(plane, controller, version);
  mountApply(plane, controller);
  mountResource(plane, controller);
  mountDescribe(plane, controller);
  mountPods(plane, controller);
  mountExec(plane, controller);
  mountStats(plane, controller, names.headerPrefix);
  mountConfig(plane, controller);
  mountRestart(plane, controller);
  mountAtomic(plane, controller);
  mountScale(plane, controller);
  mountWake(plane, controller);
  mountReleases(plane, controller, names.headerPrefix);
  mountRollouts(plane, controller);
  mountBuilds(plane, controller);
  mountWhy(plane, controller);
  mountJobs(plane, controller, { pageMax: limits.eventsPageMax });
  mountWebhooks(plane, controller, { pageMax: limits.eventsPageMax });
  mountLocks(plane, controller);
  mountPreviews(plane, controller);
  mountEvents(plane, controller, { pageMax: limits.eventsPageMax });
  mountHistory(plane, controller, { pageMax: limits.eventsPageMax });
  mountPlugins(plane, controller);
  mountDisk(plane, controller);
  mountDispatch(plane, controller, { pageMax: limits.eventsPageMax });
}

/** Health checks come every few seconds from everywhere. */
function isPolled(path: string): boolean {
  return path === "/health" || path.endsWith("/ready");
}
