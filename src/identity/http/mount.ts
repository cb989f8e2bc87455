import type { Endpoint } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { Caller } from "../service/auth.ts";
import { fieldsOf, readText } from "./body.ts";
import { type Cors, withCors } from "./cors.ts";
import { instancePaths, isAtAnother } from "./instance.ts";
import { type Query, readQuery } from "./query.ts";
import { type ApiKey, guarded, type IdentityPlane } from "./plane.ts";

/** One request of somebody whose key was right. */
export interface ApiCall {
  caller: Caller;
  request: Request;
  /** Decoded; null where the percent-encoding is broken. */
  params: Record<string, string | null>;
  query: Query;
  /** Fields of a JSON body; empty for endpoints without one. */
  body: Record<string, unknown>;
}

interface ApiHandler {
  /** Which key opens it. */
  key: ApiKey;
  /** Text of the 401 for a request without a right key, where docs/contract/identity.md, 6 sets one. */
  refusal?: string;
  /** Called from pages of apps: only where the key is not secret. */
  cors?: boolean;
  /**
   * Where failures are counted for each client. What succeeds is never refused for its address: many people share one,
   * and clients take a 429 for the end of their session.
   */
  failures?: FailureBucket;
  answer(call: ApiCall): Response | Promise<Response>;
}

/**
 * Mounts an endpoint of the API, also below `/i/<instance id>`, where clients look that have the address of an
 * instance without a host of its own. Who asks is settled before anything else of the request is looked at.
 */
export function mountApi(plane: IdentityPlane, endpoint: Endpoint, handler: ApiHandler): void {
  const { access } = plane.identity;
  const find = finder(access, handler.key);
  plane.keys.set(endpoint, handler.key);
  const run = (request: Request, params: ApiCall["params"]): Response | Promise<Response> => {
    const caller = find(request.headers);
    // Paths without parameters come without any, whatever the types say.
    const named = (params as ApiCall["params"] | undefined)?.instance;
    const isElsewhere =
      caller !== undefined &&
      (named === undefined ? isAtAnother(plane, caller.entry, request) : named !== caller.entry.instance.id);
    if (caller === undefined || isElsewhere) throw refused(plane, request, handler);
    const query = readQuery(request.url);
    if (endpoint.body === undefined) return handler.answer({ caller, request, params, query, body: {} });
    // One step after the body came, and not one for each thing that is done then: this is the way of every verification.
    return readText(request, plane.limits).then((text) =>
      guarded(plane, () => answering(plane, handler, { caller, request, params, query, body: fieldsOf(text) })),
    );
  };
  const cors: Cors | undefined = handler.cors ? { plane, callerOf: find } : undefined;
  // A secret key has no place in a page: what it opens is read by none.
  const isForPages = ({ headers }: Request) => handler.key !== "either" || access.bySecretKey(headers) === undefined;
  const handle = ({ request, params }: Routed): Response | Promise<Response> => {
    const response = guarded(plane, () => run(request, params));
    return cors !== undefined && isForPages(request) ? withCors(cors, { request, params }, response) : response;
  };
  for (const path of instancePaths(endpoint.path)) {
    // Elysia awaits a handler whose text may return a promise. A bound function has no text, and `guarded` catches all.
    const route = handle.bind(undefined);
    // The body is ours to read: Elysia's own parsers come before who asks is known. Without one there is nothing to wait for.
    plane.app.route(endpoint.method, path, route, endpoint.method === "GET" ? {} : { parse: "none" });
  }
}

type Routed = Pick<ApiCall, "request" | "params">;

type Find = (headers: Headers) => Caller | undefined;

function finder({ bySecretKey, byPublishableKey }: IdentityPlane["identity"]["access"], key: ApiKey): Find {
  if (key === "secret") return bySecretKey;
  if (key === "publishable") return byPublishableKey;
  return (headers) => bySecretKey(headers) ?? byPublishableKey(headers);
}

type FailureBucket = "wrong_key" | "exchange" | "refresh";

function answering(
  plane: IdentityPlane,
  { answer, failures }: ApiHandler,
  call: ApiCall,
): Response | Promise<Response> {
  if (failures === undefined) return answer(call);
  return Promise.try(answer, call).catch((error: unknown) => {
    const isFault = error instanceof Failure && (error.code === "unauthorized" || error.code === "invalid");
    if (isFault) countFailure(plane, failures, call.request);
    throw error;
  });
}

function refused(plane: IdentityPlane, request: Request, { refusal = "Unauthorized" }: ApiHandler): Failure {
  countFailure(plane, "wrong_key", request);
  return new Failure("unauthorized", refusal);
}

/** Fails `too_many` for a client with too many failures. */
export function countFailure(plane: IdentityPlane, bucket: FailureBucket, request: Request): void {
  const retryAfterSeconds = plane.identity.rateLimits.takeClient(bucket, plane.clientIp(request));
  if (retryAfterSeconds !== undefined) throw new Failure("too_many", "Too many requests", { retryAfterSeconds });
}
