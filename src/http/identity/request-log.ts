import type { Log } from "../../lib/log.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** One line per request. The query is left out: it carries tokens, codes and states. */
export function withRequestLog(fetch: Fetch, log: Log): Fetch {
  const write = (request: Request, response: Response, startedAt: number) => {
    const path = pathOf(request);
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const fields = { plane: "identity", method: request.method, path, status: response.status, ms };
    // Apps call the API with every request of theirs.
    if (path.startsWith("/api/") && response.status < 500) log.debug("request", fields);
    else log.info("request", fields);
    return response;
  };
  return (request) => {
    const startedAt = performance.now();
    const response = fetch(request);
    if (response instanceof Promise) return response.then((answer) => write(request, answer, startedAt));
    return write(request, response, startedAt);
  };
}

/** Path of a request as sent, without the query. */
export function pathOf({ url }: Request): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}
