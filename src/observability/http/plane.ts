import type { Elysia } from "elysia";
import type { Plane } from "../../base/http/mount.ts";
import type { Connected } from "../../base/http/listener.ts";
import type { Log } from "../../base/words/log.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import type { Grant } from "../core/tokens/grant.ts";
import type { Observability } from "../service/observability.ts";

export interface PlaneHttpLimits {
  bodyBytesMax: number;
  /** Body of a sign-in, before the caller is known. */
  signInBodyBytesMax: number;
  jsonDepthMax: number;
  forwardedHopsMax: number;
  pingMs: number;
  pluginRoutes: { requestBytesMax: number; answerBytesMax: number; headMs: number; idleMs: number };
}

/** Who asks, settled before anything else of a request is looked at. */
export interface Visitor {
  grant: Grant;
  /** Address of the client itself, behind proxies that are trusted. */
  ip: string;
  requestId: string;
}

/** What every mounted endpoint of the observability plane shares. */
export interface ObservabilityPlane extends Plane<Visitor> {
  app: Elysia;
  observability: Observability;
  connected: Connected;
  limits: PlaneHttpLimits;
  log: Log;
  /** Every endpoint that is mounted, in order. */
  mounted: PlaneEndpoint[];
  /** Who sent a request of the API. */
  visitorOf(request: Request): Visitor;
}
