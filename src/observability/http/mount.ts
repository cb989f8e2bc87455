import type { TObject } from "@sinclair/typebox";
import { endStatus } from "../../base/http/answers.ts";
import { pathOf, readParam, readQuery } from "../../base/http/request.ts";
import type { Call, Plane, Served } from "../../base/http/mount.ts";
import { tokenPrincipal } from "../../access/principal.ts";
import type { Endpoint, ParamsOf, QueryOf } from "../../base/wire/endpoint.ts";
import { readFlag } from "../../base/wire/query.ts";
import { schemaReader } from "../../base/wire/read-body.ts";
import { planeEndpoints } from "../api/endpoints.ts";
import { type PlaneEndpoint, planePath } from "../api/plane-endpoint.ts";
import { actorOf } from "../core/tokens/grant.ts";
import { requireScope } from "../service/tokens/access.ts";
import { readBoundedBody, refuseLength } from "./bounded.ts";
import type { ObservabilityPlane, Visitor } from "./plane.ts";

/** One request of a token that may make it. */
export type PlaneCall<E extends Endpoint> = Call<E> & Visitor;

/**
 * The plane of tokens and sessions. It serves what its list has: checks the scope and the limits of the token before
 * anything of the request is read, and puts what changes something on record in the audit trail, also when it fails.
 */
export function serveTokens(plane: Omit<ObservabilityPlane, "serve">): Plane<Visitor>["serve"] {
  return (own, how) => {
    for (const endpoint of planeEndpoints.filter((listed) => (listed.of ?? listed) === own)) {
      plane.mounted.push(endpoint);
      const isAudited = endpoint.method !== "GET" || endpoint.audited === true;
      plane.app.route(
        endpoint.method,
        planePath(endpoint),
        async ({ request, params }) => {
          const visitor = plane.visitorOf(request);
          // Paths without parameters come without any, whatever the types say.
          const named = (params as Record<string, string | null> | undefined) ?? {};
          const answered = asked(plane, { own, endpoint, request, visitor, params: named }, how).catch(plane.mapError);
          return isAudited ? recorded(plane, { endpoint, request, visitor }, answered) : answered;
        },
        // The body is ours to read: Elysia's own parsers go by Content-Type and tell no positions.
        { parse: "none" },
      );
    }
  };
}

interface Asked {
  endpoint: PlaneEndpoint;
  request: Request;
  visitor: Visitor;
}

async function asked<E extends Endpoint>(
  plane: Omit<ObservabilityPlane, "serve">,
  { own, endpoint, request, visitor, params }: Asked & { own: E; params: Record<string, string | null> },
  { answer, respond }: Served<E, Visitor>,
): Promise<Response> {
  const { grant } = visitor;
  requireScope(grant, endpoint.scope);
  plane.observability.rates.request(grant, kindOf(endpoint, request));
  const { bodyBytesMax: bytesMax } = plane.limits;
  if (endpoint.bodyType === undefined) refuseLength(request, bytesMax);
  for (const name of Object.keys(params)) readParam(params, name);
  const given = readQuery(request, endpoint);
  const isRead = answer !== undefined && endpoint.body !== undefined && endpoint.bodyType === undefined;
  const bounds = { bytesMax, depthMax: plane.jsonDepthMax };
  const read = async () => {
    const found = checked(endpoint, await readBoundedBody(request, bounds));
    if (endpoint.onRecord !== undefined) notes.set(request, endpoint.onRecord(found as never));
    return found;
  };
  const body = isRead ? await read() : undefined;
  return respond({
    ...visitor,
    actor: actorOf(grant),
    by: tokenPrincipal(grant),
    params: params as ParamsOf<E, string | null>,
    query: { ...endpoint.fixed, ...given, ...beside(params, own) } as Partial<QueryOf<E>>,
    ...{ body, request },
    open: () => plane.observability.streams.open(grant, request.signal),
    readBody: (optional) => (optional !== undefined && request.body === null ? Promise.resolve(undefined) : read()),
    keepOpen: () => plane.connected.keepOpen(request),
    shown: endpoint.shown,
    get left() {
      return new AbortController().signal;
    },
  });
}

/** A plan changes nothing: it does not take what the token has for its actions. */
function kindOf(endpoint: PlaneEndpoint, { url }: Request): "read" | "plan" | "change" {
  if (endpoint.method === "GET") return "read";
  const start = url.indexOf("?");
  const given = start < 0 ? [] : new URLSearchParams(url.slice(start + 1)).getAll("dry_run");
  // A request with any other spelling of it is refused, or changes something.
  const isDry = endpoint.query?.properties.dry_run !== undefined && given.length === 1 && readFlag(given[0], false);
  return endpoint.plans || isDry ? "plan" : "change";
}

/** What the body of an alias has beyond its schema is refused here; handlers check the rest as of every caller. */
function checked({ of, body, given: inForm }: PlaneEndpoint, given: unknown): unknown {
  if (of === undefined || body === undefined || body === of.body) return given;
  const read = schemaReader(body as TObject)(given);
  return inForm === undefined ? read : inForm(read as never);
}

/** Parameters in the path of an alias that its own path does not have: values of the query there. */
function beside(params: Record<string, string | null>, { path }: Endpoint): Record<string, string> {
  const own = path.split("/");
  const others = Object.keys(params).filter((name) => !own.includes(`:${name}`));
  return Object.fromEntries(others.map((name) => [name, readParam(params, name)]));
}

/** What a handler answers once it has made a WebSocket of the connection. */
export const upgradedStatus = 101;

/** Query parameters that are on record; of a body there are only names. */
const paramCharactersMax = 200;
const noteCharactersMax = 2_000;
/** What the body of a request adds to its record. */
const notes = new WeakMap<Request, Record<string, string>>();

/** Puts a request that changes something on record, with how it was answered. */
export async function recorded(
  plane: Pick<ObservabilityPlane, "observability">,
  { endpoint, request, visitor }: Asked,
  answered: Promise<Response>,
): Promise<Response> {
  const startedAt = performance.now();
  const response = await answered;
  const isRefused = response.status === 403 || response.status === 429;
  if (isRefused && !plane.observability.rates.isRecorded(visitor.grant)) return response;
  const record = (status: number) =>
    plane.observability.audit.record({
      actor: actorOf(visitor.grant),
      ip: visitor.ip,
      action: `${endpoint.method} ${planePath(endpoint)}`,
      target: pathOf(request),
      params: { ...paramsOf(request, endpoint), ...cut(notes.get(request)) },
      outcome: (status >= 200 && status < 300) || status === upgradedStatus ? "ok" : `status ${status}`,
      durationMs: performance.now() - startedAt,
      requestId: visitor.requestId,
    });
  const ended = endStatus.get(response);
  if (ended === undefined) await record(response.status);
  // What fails after it has told its first line has a head that says otherwise.
  else ended.then(record).catch((error: unknown) => plane.observability.log.error("audit entry not kept", { error }));
  return response;
}

const cut = (texts: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.slice(0, noteCharactersMax)]));

/** Those that the endpoint knows: anything else may be a mistake that holds a secret. */
function paramsOf({ url }: Request, { query }: PlaneEndpoint): Record<string, string> {
  const start = url.indexOf("?");
  const given = new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
  const known = Object.keys(query?.properties ?? {}).filter((name) => given.has(name));
  return Object.fromEntries(known.map((name) => [name, (given.get(name) ?? "").slice(0, paramCharactersMax)]));
}
