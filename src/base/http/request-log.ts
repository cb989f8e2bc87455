import type { Log } from "../words/log.ts";
import { pathOf, readActor } from "./request.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** One line per request. The query is left out: it can name config keys, and a caller's mistake can put a value there. */
export function withRequestLog(fetch: Fetch, log: Log, actorHeader: string): Fetch {
  const write = (request: Request, response: Response, startedAt: number) => {
    const path = pathOf(request);
    const fields = {
      method: request.method,
      path,
      status: response.status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      actor: readActor(request, actorHeader),
    };
    if (isPolled(path)) log.debug("request", fields);
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

/** Health checks come every few seconds from everywhere. */
function isPolled(path: string): boolean {
  return path === "/health" || path.endsWith("/ready");
}
