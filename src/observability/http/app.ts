import { Elysia } from "elysia";
import { createAllowedMethods } from "../../base/http/allowed-methods.ts";
import { errorResponse } from "../../base/http/answers.ts";
import { createClientAddress } from "../../base/http/client-address.ts";
import type { Connected } from "../../base/http/listener.ts";
import { pathOf } from "../../base/http/request.ts";
import { withHeader } from "../../base/http/with-header.ts";
import { versionHeader } from "../../base/wire/client.ts";
import { failureStatus } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";
import { type PlaneEndpoint, planePrefix } from "../api/plane-endpoint.ts";
import type { Observability } from "../service/observability.ts";
import { mountApps } from "./apps.ts";
import { withBoundedBody } from "./bounded.ts";
import { mapError } from "./error-mapping.ts";
import type { ObservabilityPlane, PlaneHttpLimits, Visitor } from "./plane.ts";
import { withRequestLog } from "./request-log.ts";
import { mountTokens } from "./tokens.ts";
import { mountWhoami } from "./whoami.ts";

interface ObservabilityAppOptions {
  observability: Observability;
  connected: Connected;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  version: string;
  log: Log;
  limits: PlaneHttpLimits;
}

export interface ObservabilityApp {
  fetch(request: Request): Promise<Response>;
  /** Every endpoint that is mounted. */
  endpoints: readonly PlaneEndpoint[];
}

/** The observability plane over HTTP: tokens open the API under `/api/pat/v1`. */
export function createObservabilityApp(options: ObservabilityAppOptions): ObservabilityApp {
  const { observability, connected, version, log, limits } = options;
  const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } });
  const fail = (error: unknown) => mapError(error, log);
  app.onError(({ code, error, request }) => (code === "NOT_FOUND" ? unknown(request) : fail(error)));
  const visitors = new WeakMap<Request, Visitor>();
  const plane: ObservabilityPlane = {
    app,
    observability,
    connected,
    limits,
    log,
    mounted: [],
    visitorOf(request) {
      const visitor = visitors.get(request);
      if (visitor === undefined) throw new Error("a request of the API came past the door");
      return visitor;
    },
    mapError: fail,
  };
  mountWhoami(plane);
  mountTokens(plane);
  mountApps(plane);
  const allowedOn = createAllowedMethods(plane.mounted);
  const clientIp = createClientAddress({
    peerOf: connected.peerOf,
    trusted: options.trustedProxies,
    hopsMax: limits.forwardedHopsMax,
  });
  /** Who asks comes before everything else: without a token not even the paths that exist can be told. */
  const ask = async (request: Request): Promise<Response> => {
    const ip = clientIp(request);
    const { headers } = request;
    const knock = { authorization: headers.get("authorization"), ip, agent: headers.get("user-agent") ?? "" };
    const visitor = { grant: observability.access.enter(knock), ip, requestId: crypto.randomUUID() };
    const asked = await withBoundedBody(request, limits.bodyBytesMax);
    visitors.set(asked, visitor);
    return app.fetch(asked);
  };
  const answer = async (request: Request): Promise<Response> => {
    if (!isApi(pathOf(request))) return unknown(request);
    if (request.method !== "HEAD") return ask(request).catch(fail);
    const { url, headers, signal } = request;
    return headOf(await ask(new Request(url, { headers, signal })).catch(fail));
  };
  return {
    fetch: withRequestLog(withHeader(answer, versionHeader, version), log),
    endpoints: plane.mounted,
  };

  function unknown(request: Request): Response {
    const path = pathOf(request);
    const allow = isApi(path) ? allowedOn(path).join(", ") : "";
    if (allow === "") {
      const message = `path ${JSON.stringify(path)} does not exist on the observability plane`;
      return errorResponse({ status: failureStatus.not_found, message });
    }
    const message = `method ${request.method} is not allowed on ${JSON.stringify(path)}, use ${allow}`;
    return errorResponse({ status: failureStatus.method_not_allowed, message, headers: { Allow: allow } });
  }
}

function isApi(path: string): boolean {
  return path === planePrefix || path.startsWith(`${planePrefix}/`);
}

/** What GET answers, without its body. */
async function headOf(response: Response): Promise<Response> {
  await response.body?.cancel();
  return new Response(null, { status: response.status, headers: response.headers });
}
