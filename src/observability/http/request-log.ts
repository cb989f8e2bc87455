import { pathOf } from "../../base/http/request.ts";
import type { Log } from "../../base/words/log.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * One line per request that changes something or fails; a UI reads every few seconds, which is for level debug. The
 * query is left out: a caller's mistake can put a secret there.
 */
export function withRequestLog(fetch: Fetch, log: Log): (request: Request) => Promise<Response> {
  return async (request) => {
    const startedAt = performance.now();
    const response = await fetch(request);
    const { method } = request;
    const { status } = response;
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const fields = { plane: "observability", method, path: pathOf(request), status, ms };
    const isRead = method === "GET" || method === "HEAD";
    if (isRead && status < 500) log.debug("request", fields);
    else log.info("request", fields);
    return response;
  };
}
