import { allowsOrigin } from "../core/origins.ts";
import { publishableKeyHeader } from "../service/auth.ts";
import type { Caller } from "../service/auth.ts";
import type { InstanceEntry } from "../service/directory.ts";
import { instanceOf, instancePaths } from "./instance.ts";
import type { IdentityPlane } from "./plane.ts";

export interface Cors {
  plane: IdentityPlane;
  callerOf(headers: Headers): Caller | undefined;
}

/** As the router gives them: undefined for a path without parameters, whatever its types say. */
type Params = Record<string, string | null> | undefined;

interface Asked {
  request: Request;
  params: Params;
}

const preflightSeconds = 600;

/**
 * Lets pages of an app read the answers that are theirs: those of origins that its instance sends browsers back to.
 * Without credentials: keys travel in headers. An answer that belongs to no instance says nothing that is not the same
 * for everybody, and anybody may read it.
 */
export function withCors(cors: Cors, { request, params }: Asked, response: Response | Promise<Response>) {
  const origin = request.headers.get("origin");
  if (origin === null) return response;
  const entry = cors.callerOf(request.headers)?.entry ?? instanceOf(cors.plane, request, params);
  const marked = (answer: Response) => {
    answer.headers.append("Vary", "Origin");
    const allowed = allowedOrigin(entry, origin);
    if (allowed !== undefined) answer.headers.set("Access-Control-Allow-Origin", allowed);
    return answer;
  };
  return response instanceof Promise ? response.then(marked) : marked(response);
}

/**
 * Answers the browser's question before such a request (Fetch standard, CORS preflight). It carries no key: where
 * neither path nor host names an instance, any may be meant, and the answer is yes to every site, so that no site learns
 * whose apps are here. The request itself is then held against its own instance.
 */
export function mountPreflight(plane: IdentityPlane, paths: readonly { path: string; method: string }[]) {
  const all = paths.flatMap(({ path, method }) => instancePaths(path).map((one) => ({ path: one, method })));
  for (const { path, method } of all) {
    plane.app.options(path, ({ request, params }) => {
      const entry = instanceOf(plane, request, params);
      const headers: Record<string, string> = { Vary: "Origin, Access-Control-Request-Headers" };
      const allowed = allowedOrigin(entry, request.headers.get("origin") ?? "");
      if (allowed !== undefined) {
        headers["Access-Control-Allow-Origin"] = allowed;
        headers["Access-Control-Allow-Methods"] = method;
        headers["Access-Control-Allow-Headers"] = allowedHeaders(entry, request).join(", ");
        headers["Access-Control-Max-Age"] = String(preflightSeconds);
      }
      return new Response(null, { status: 204, headers });
    });
  }
}

function allowedOrigin(entry: InstanceEntry | undefined, origin: string): string | undefined {
  if (entry === undefined) return "*";
  return allowsOrigin(entry.settings.redirect_uris, origin) ? origin : undefined;
}

const requestedMax = 8;

function allowedHeaders(entry: InstanceEntry | undefined, { headers }: Request): string[] {
  const known = ["content-type", publishableKeyHeader];
  if (entry !== undefined)
    return [...known, ...entry.settings.publishable_key_headers.map((name) => name.toLowerCase())];
  const requested = (headers.get("access-control-request-headers") ?? "").toLowerCase().split(",");
  const names = requested.map((name) => name.trim()).filter((name) => /^[a-z0-9-]{1,64}$/.test(name));
  return [...new Set([...known, ...names.slice(0, requestedMax)])];
}
