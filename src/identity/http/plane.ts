import type { Elysia } from "elysia";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import type { Identity } from "../service/identity.ts";
import type { Log } from "../../base/words/log.ts";

export interface HttpLimits {
  bodyBytesMax: number;
  forwardedHopsMax: number;
}

/** Which key of an instance opens an endpoint. */
export type ApiKey = "secret" | "publishable" | "either";

/** What every mounted route of the identity service shares. */
export interface IdentityPlane {
  app: Elysia;
  identity: Identity;
  limits: HttpLimits;
  log: Log;
  /** Keys of the endpoints that are mounted. */
  keys: Map<Endpoint, ApiKey>;
  /** The answer for what a handler threw. */
  mapError(error: unknown): Response;
  /** Address of the client itself, behind the proxies that are trusted. */
  clientIp(request: Request): string;
}

/** Runs a handler; what it throws, now or later, becomes its answer. */
export function guarded(plane: Pick<IdentityPlane, "mapError">, run: () => Response | Promise<Response>) {
  try {
    const response = run();
    return response instanceof Promise ? response.catch(plane.mapError) : response;
  } catch (error) {
    return plane.mapError(error);
  }
}
