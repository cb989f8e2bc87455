import type { Log, LogFields } from "../../lib/log.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** One line per request. The query is left out: it carries tokens, codes and states. */
export function withRequestLog(fetch: Fetch, log: Log): Fetch {
  const detailed = log.writes("debug");
  return (request) => {
    // Apps call the API with every request of theirs.
    const isQuiet = !detailed && request.url.includes("/api/");
    const startedAt = isQuiet ? 0 : performance.now();
    const write = (response: Response) => {
      if (!isQuiet || response.status >= 500) log.info("request", fieldsOf(request, response, startedAt));
      return response;
    };
    const response = fetch(request);
    return response instanceof Promise ? response.then(write) : write(response);
  };
}
function fieldsOf(request: Request, response: Response, startedAt: number): LogFields {
  const ms = startedAt === 0 ? undefined : Math.round((performance.now() - startedAt) * 10) / 10;
  return { plane: "identity", method: request.method, path: pathOf(request), status: response.status, ms };
}

/** Path of a request as sent, without the query. */
export function pathOf({ url }: Request): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}
