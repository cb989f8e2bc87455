import { Elysia } from "elysia";
import { createAllowedMethods } from "../../base/http/allowed-methods.ts";
import { errorResponse } from "../../base/http/answers.ts";
import type { Plane } from "../../base/http/mount.ts";
import type { Connected } from "../../base/http/listener.ts";
import { pathOf } from "../../base/http/request.ts";
import { withHeader } from "../../base/http/with-header.ts";
import { versionHeader } from "../../base/wire/client.ts";
import { Failure, failureStatus } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";
import { planeEndpoints } from "../api/endpoints.ts";
import { type PlaneEndpoint, planePath, planePrefix } from "../api/plane-endpoint.ts";
import { sessionEndpoints } from "../api/sessions.ts";
import type { Grant } from "../core/tokens/grant.ts";
import type { Observability } from "../service/observability.ts";
import { requirePlainBody, underHttp } from "./bounded.ts";
import { mapError } from "./error-mapping.ts";
import { mountObservability } from "./shared.ts";
import { serveTokens } from "./mount.ts";
import type { ObservabilityPlane, PlaneHttpLimits, Visitor } from "./plane.ts";
import { withRequestLog } from "../../base/http/request-log.ts";
import { type ClientConnection, createClientConnection, isCrossSite, isOwnOrigin } from "./client-connection.ts";
import type { SessionCookie } from "./session-cookie.ts";
import { mountOpenapi } from "./openapi.ts";
import { mountSessions, openSession, requireOwnPage } from "./sessions.ts";
import { mountPods } from "./pods.ts";
import { mountIdentityRoom } from "./identity.ts";
import { mountPersonSignIn } from "./person-sign-in.ts";
import { mountTerminals } from "./exec.ts";
import { mountFiles } from "./files.ts";
import type { IngressWord } from "../../base/http/ingress-word.ts";
import { mountWhoami } from "./whoami.ts";
import { createPluginProxy } from "./plugin-proxy.ts";
import { mountDatabases } from "./plugins.ts";
import { mountActions } from "./actions.ts";
import { mountApps } from "./apps.ts";
import { mountHost } from "./host.ts";
import { mountActivity } from "./activity.ts";
import { mountTraffic } from "./traffic.ts";
import { mountSettings } from "./settings.ts";
import { mountStreamRoute } from "./stream.ts";

interface ObservabilityAppOptions {
  observability: Observability;
  connected: Connected;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  /** Our own ingress. */
  ingress?: IngressWord | undefined;
  cookie: SessionCookie;
  /** Answers every address that is neither API nor session: the web UI. */
  pages?: ((request: Request) => Promise<Response>) | undefined;
  /** Mounts what other services do for tokens; the plane serves what its list has. */
  mountOthers?: ((plane: Plane) => void) | undefined;
  version: string;
  /** Prefix of headers of this product: `X-Berth`. */
  headerPrefix: string;
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
  const { observability, connected, cookie, pages, version, headerPrefix, log, limits } = options;
  const app = new Elysia({ normalize: false, strictPath: true, handler: { standardHostname: false } });
  const fail = (error: unknown) => mapError(error, log);
  app.onError(({ code, error, request }) => (code === "NOT_FOUND" ? unknown(request) : fail(error)));
  const visitors = new WeakMap<Request, Visitor>();
  const origins = new WeakMap<Request, Request>();
  const door: Omit<ObservabilityPlane, "serve"> = {
    app,
    observability,
    connected: connectedBy(connected, origins),
    ...{ limits, log, mounted: [], jsonDepthMax: limits.jsonDepthMax },
    visitorOf(request) {
      const visitor = visitors.get(request);
      if (visitor === undefined) throw new Error("a request of the API came past the door");
      return visitor;
    },
    nameOf: observability.tokens.nameOf,
    mapError: fail,
  };
  const plane: ObservabilityPlane = { ...door, serve: serveTokens(door) };
  const connectionOf = createClientConnection({
    peerOf: (request) => connected.peerOf(request),
    trusted: options.trustedProxies,
    ingress: options.ingress,
    hopsMax: limits.forwardedHopsMax,
    onIgnored: (proxy) => log.warn(notBelieved, { proxy, hint: "list it in --identity-trusted-proxies" }),
  });
  const connections = new WeakMap<Request, ClientConnection>();
  mountNouns(plane, options);
  const parts = { cookie, connectionOf: (request: Request) => connections.get(request) ?? connectionOf(request) };
  mountSessions(plane, parts);
  mountPersonSignIn(plane, parts);
  const throughPlugin = createPluginProxy(plane, headerPrefix);
  const allowedOn = createAllowedMethods([
    ...planeEndpoints.map((one) => ({ ...one, path: planePath(one) })),
    ...sessionEndpoints,
  ]);
  /** The token of the request, or where it has none the session of its cookie. Fails `unauthorized`. */
  const enter = async (request: Request, connection: ClientConnection): Promise<Grant> => {
    const { headers, method } = request;
    const authorization = headers.get("authorization");
    const open = authorization === null ? await openSession(request, connection, { cookie, plane }) : undefined;
    if (open === undefined) {
      return observability.access.enter({ authorization, ip: connection.ip, agent: headers.get("user-agent") ?? "" });
    }
    if (method !== "GET" && method !== "HEAD") requireOwnPage(request);
    // WebSockets and streams are GET, and a page of another site can open a WebSocket with the cookie.
    else if (isCrossSite(headers)) throw new Failure("forbidden", "a page of another site sent this request");
    if (headers.has("upgrade") && !isOwnOrigin(headers, connection)) {
      throw new Failure("forbidden", "with a session, a WebSocket needs the Origin of this plane");
    }
    return open.grant;
  };
  /** Who asks comes before everything else: without a token a caller does not even learn which paths exist. */
  const ask = async (request: Request): Promise<Response> => {
    const connection = connections.get(request) ?? connectionOf(request);
    const isOpen = !isApi(pathOf(request));
    const grant = isOpen ? undefined : await enter(request, connection);
    if (grant !== undefined) {
      // Its body is handed on as it comes, and not gathered here.
      const proxied = throughPlugin(request, { grant, ip: connection.ip, requestId: crypto.randomUUID() });
      if (proxied !== undefined) return proxied;
    }
    requirePlainBody(request);
    // No body is read here: who asks, what may be asked and how often are settled before.
    const asked = underHttp(request);
    if (asked !== request) origins.set(asked, request);
    connections.set(asked, connection);
    if (grant !== undefined) visitors.set(asked, { grant, ip: connection.ip, requestId: crypto.randomUUID() });
    return app.fetch(asked);
  };
  const answer = async (request: Request): Promise<Response> => {
    const path = pathOf(request);
    if (!isApi(path) && !path.startsWith(uiPrefix)) return pages === undefined ? unknown(request) : pages(request);
    if (request.method !== "HEAD") return ask(request).catch(fail);
    const { url, headers, signal } = request;
    const asked = new Request(url, { headers, signal });
    connections.set(asked, connectionOf(request));
    return headOf(await ask(asked).catch(fail));
  };
  const logged = withRequestLog(withHeader(answer, versionHeader, version), {
    log,
    more: () => ({ plane: "observability" }),
    // A UI reads every few seconds.
    isQuiet: ({ method }, status) => (method === "GET" || method === "HEAD") && status < 500,
  });
  return {
    fetch: async (request) => logged(request),
    endpoints: plane.mounted,
  };

  function unknown(request: Request): Response {
    const path = pathOf(request);
    const allow = allowedOn(path).join(", ");
    if (allow === "") {
      const message = `path ${JSON.stringify(path)} does not exist on the observability plane`;
      return errorResponse({ status: failureStatus.not_found, message });
    }
    const message = `method ${request.method} is not allowed on ${JSON.stringify(path)}, use ${allow}`;
    return errorResponse({ status: failureStatus.method_not_allowed, message, headers: { Allow: allow } });
  }
}

/** A request that was read or rewritten is another one, and has no connection: the one that it came from has. */
function connectedBy(connected: Connected, origins: WeakMap<Request, Request>): Connected {
  return {
    peerOf: (request) => connected.peerOf(origins.get(request) ?? request),
    upgrade: (request, ...more) => connected.upgrade(origins.get(request) ?? request, ...more),
    keepOpen: (request) => connected.keepOpen(origins.get(request) ?? request),
  };
}

/** What tokens and sessions ask for, a line each. */
function mountNouns(
  plane: ObservabilityPlane,
  { version, headerPrefix, mountOthers }: Pick<ObservabilityAppOptions, "version" | "headerPrefix" | "mountOthers">,
): void {
  mountWhoami(plane);
  mountOpenapi(plane, { title: "berth observability API", version });
  mountObservability(plane, plane.observability);
  mountIdentityRoom(plane);
  mountApps(plane);
  mountActions(plane);
  mountSettings(plane);
  mountHost(plane, version);
  mountActivity(plane);
  mountTraffic(plane);
  mountStreamRoute(plane);
  mountDatabases(plane);
  mountOthers?.(plane);
  mountPods(plane, headerPrefix);
  mountTerminals(plane);
  mountFiles(plane);
}

const uiPrefix = "/ui/api/";
const notBelieved = "X-Forwarded-For is not believed: all clients behind this proxy count as one, without TLS";

function isApi(path: string): boolean {
  return path === planePrefix || path.startsWith(`${planePrefix}/`);
}

/** What GET answers, without its body. */
async function headOf(response: Response): Promise<Response> {
  await response.body?.cancel();
  return new Response(null, { status: response.status, headers: response.headers });
}
