import { allowsOrigin } from "../../core/identity/origins.ts";
import { publishableKeyHeader } from "../../identity/auth.ts";
import type { Caller } from "../../identity/auth.ts";
import { instancePaths } from "./instance.ts";
import type { IdentityPlane } from "./plane.ts";

export interface Cors {
  plane: IdentityPlane;
  callerOf(headers: Headers): Caller | undefined;
}

const preflightSeconds = 600;

/**
 * Lets pages of an app read the answers that are theirs: those of origins that its instance sends browsers back to.
 * Without credentials: keys travel in headers.
 */
export function withCors(cors: Cors, request: Request, response: Response | Promise<Response>) {
  const origin = request.headers.get("origin");
  if (origin === null) return response;
  const { overview } = cors.plane.identity;
  const uris = cors.callerOf(request.headers)?.entry.settings.redirect_uris ?? overview().redirectUris;
  const allowed = allowsOrigin(uris, origin);
  const marked = (answer: Response) => {
    answer.headers.append("Vary", "Origin");
    if (allowed) answer.headers.set("Access-Control-Allow-Origin", origin);
    return answer;
  };
  return response instanceof Promise ? response.then(marked) : marked(response);
}

/**
 * Answers the browser's question before such a request (Fetch standard, CORS preflight). It carries no key, so that
 * any instance may be meant; the request itself is then held against its own.
 */
export function mountPreflight({ app, identity }: IdentityPlane, paths: readonly { path: string; method: string }[]) {
  const all = paths.flatMap(({ path, method }) => instancePaths(path).map((one) => ({ path: one, method })));
  for (const { path, method } of all) {
    app.options(path, ({ request }) => {
      const origin = request.headers.get("origin") ?? "";
      const { redirectUris, publishableKeyHeaders } = identity.overview();
      const headers: Record<string, string> = { Vary: "Origin, Access-Control-Request-Headers" };
      if (allowsOrigin(redirectUris, origin)) {
        headers["Access-Control-Allow-Origin"] = origin;
        headers["Access-Control-Allow-Methods"] = method;
        headers["Access-Control-Allow-Headers"] = ["content-type", publishableKeyHeader, ...publishableKeyHeaders].join(
          ", ",
        );
        headers["Access-Control-Max-Age"] = String(preflightSeconds);
      }
      return new Response(null, { status: 204, headers });
    });
  }
}
