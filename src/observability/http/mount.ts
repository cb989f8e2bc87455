import { jsonResponse, okResponse } from "../../base/http/answers.ts";
import { pathOf, readQuery } from "../../base/http/request.ts";
import type { DataOf, ParamsOf, QueryOf } from "../../base/wire/endpoint.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import { actorOf } from "../core/tokens/grant.ts";
import { requireScope } from "../service/tokens/access.ts";
import { readBoundedBody, refuseLength } from "./bounded.ts";
import type { ObservabilityPlane, Visitor } from "./plane.ts";

/** One request of a token that may make it. */
export interface PlaneCall<E extends PlaneEndpoint> extends Visitor {
  /** `pat:<id>` or `person:<address>`: who the platform has on record for what is done. */
  actor: string;
  /** Decoded; null where the percent-encoding is broken. `readParam` reads one. */
  params: ParamsOf<E, string | null>;
  query: Partial<QueryOf<E>>;
  /** Parsed JSON, for endpoints with a body that is JSON; check it with `bodyReader`. */
  body: unknown;
  request: Request;
}

type PlaneAnswer<E extends PlaneEndpoint> = (call: PlaneCall<E>) => DataOf<E> | Promise<DataOf<E>>;

interface PlaneHandler<E extends PlaneEndpoint> {
  answer: PlaneAnswer<E>;
  /** 200 where left out. */
  status?(data: DataOf<E>): number;
  headers?(data: DataOf<E>): Record<string, string>;
}

/**
 * Mounts one endpoint value: checks the scope and the limits of the token, reads the request, calls the handler, wraps
 * its data in the envelope. Requests that change something are on record in the audit trail, also when they fail.
 */
export function mountPlane<E extends PlaneEndpoint>(
  plane: ObservabilityPlane,
  endpoint: E,
  how: PlaneAnswer<E> | PlaneHandler<E>,
): void {
  const handler: PlaneHandler<E> = typeof how === "function" ? { answer: how } : how;
  mountAnswer(plane, endpoint, async (call) => {
    const data = await handler.answer(call);
    const status = handler.status?.(data) ?? 200;
    const headers = handler.headers?.(data);
    return endpoint.flat === true ? jsonResponse(status, data, headers) : okResponse(status, data, headers);
  });
}

/**
 * Mounts an endpoint that makes its answer itself: a stream, or the answer of another server. Register what goes on
 * with `observability.streams.open(grant, request.signal)`. What fails before the first byte is an envelope all the same.
 */
export function mountPlaneStream<E extends PlaneEndpoint>(
  plane: ObservabilityPlane,
  endpoint: E,
  respond: (call: PlaneCall<E>) => Promise<Response>,
): void {
  mountAnswer(plane, endpoint, respond);
}

type Respond<E extends PlaneEndpoint> = (call: PlaneCall<E>) => Promise<Response>;

function mountAnswer<E extends PlaneEndpoint>(plane: ObservabilityPlane, endpoint: E, respond: Respond<E>): void {
  const { rates } = plane.observability;
  plane.mounted.push(endpoint);
  const changes = endpoint.method !== "GET";
  const isAudited = changes || endpoint.audited === true;
  plane.app.route(
    endpoint.method,
    endpoint.path,
    async ({ request, params }) => {
      const visitor = plane.visitorOf(request);
      const { grant } = visitor;
      const run = async () => {
        requireScope(grant, endpoint.scope);
        rates.request(grant, changes);
        const { jsonDepthMax: depthMax, bodyBytesMax: bytesMax } = plane.limits;
        if (endpoint.bodyType === undefined) refuseLength(request, bytesMax);
        const query = readQuery(request, endpoint) as Partial<QueryOf<E>>;
        const hasJson = endpoint.body !== undefined && endpoint.bodyType === undefined;
        const body = hasJson ? await readBoundedBody(request, { bytesMax, depthMax }) : undefined;
        // Paths without parameters come without any, whatever the types say.
        const named = ((params as object | undefined) ?? {}) as PlaneCall<E>["params"];
        return respond({ ...visitor, actor: actorOf(grant), params: named, query, body, request });
      };
      const answered = run().catch(plane.mapError);
      return isAudited ? recorded(plane, { endpoint, request, visitor }, answered) : answered;
    },
    // The body is ours to read: Elysia's own parsers go by Content-Type and tell no positions.
    { parse: "none" },
  );
}

interface Asked {
  endpoint: PlaneEndpoint;
  request: Request;
  visitor: Visitor;
}

/** What a handler answers once it has made a WebSocket of the connection. */
export const upgradedStatus = 101;

/** Query parameters that are on record; no value of a body is. */
const paramCharactersMax = 200;

/** Puts a request that changes something on record, with how it was answered. */
export async function recorded(
  plane: ObservabilityPlane,
  asked: Asked,
  answered: Promise<Response>,
): Promise<Response> {
  const startedAt = performance.now();
  const response = await answered;
  const { endpoint, request, visitor } = asked;
  const isRefused = response.status === 403 || response.status === 429;
  if (isRefused && !plane.observability.rates.isRecorded(visitor.grant)) return response;
  await plane.observability.audit.record({
    actor: actorOf(visitor.grant),
    ip: visitor.ip,
    action: `${endpoint.method} ${endpoint.path}`,
    target: pathOf(request),
    params: paramsOf(request, endpoint),
    outcome: response.ok || response.status === upgradedStatus ? "ok" : `status ${response.status}`,
    durationMs: performance.now() - startedAt,
    requestId: visitor.requestId,
  });
  return response;
}

/** Those that the endpoint knows: anything else may be a mistake that holds a secret. */
function paramsOf({ url }: Request, { query }: PlaneEndpoint): Record<string, string> {
  const start = url.indexOf("?");
  const given = new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
  const known = Object.keys(query?.properties ?? {}).filter((name) => given.has(name));
  return Object.fromEntries(known.map((name) => [name, (given.get(name) ?? "").slice(0, paramCharactersMax)]));
}
