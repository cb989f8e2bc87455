import type { Log, LogFields } from "../../base/words/log.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * One line per request. The query is left out: it carries tokens, codes and states. Requests to the API are left out
 * below level debug, because apps send one with every request of theirs; what fails inside is logged where it fails.
 */
export function withRequestLog(fetch: Fetch, log: Log): Fetch {
  const detailed = log.writes("debug");
  return (request) => {
    if (!detailed && isApi(pathOf(request))) return fetch(request);
    const startedAt = performance.now();
    const write = (response: Response) => {
      log.info("request", fieldsOf(request, response, startedAt));
      return response;
    };
    const response = fetch(request);
    return response instanceof Promise ? response.then(write) : write(response);
  };
}

function fieldsOf(request: Request, response: Response, startedAt: number): LogFields {
  const ms = Math.round((performance.now() - startedAt) * 10) / 10;
  return { plane: "identity", method: request.method, path: pathOf(request), status: response.status, ms };
}

function isApi(path: string): boolean {
  return path.startsWith("/api/") || (path.startsWith("/i/") && path.startsWith("/api/", path.indexOf("/", 3)));
}

/** Path of a request as sent, without the query. */
export function pathOf({ url }: Request): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}
