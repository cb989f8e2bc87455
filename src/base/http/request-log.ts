import type { Log } from "../words/log.ts";
import { pathOf } from "./request.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * One line per request. The query is left out: it can name config keys, and a caller's mistake can put a value there.
 * `more`: what a line says beside. `isQuiet`: it comes every few seconds, and is for level debug.
 */
export function withRequestLog(
  fetch: Fetch,
  {
    log,
    more,
    isQuiet,
  }: { log: Log; more(request: Request): Record<string, string>; isQuiet(request: Request, status: number): boolean },
): Fetch {
  const write = (request: Request, { status }: Response, startedAt: number) => {
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    const fields = { method: request.method, path: pathOf(request), status, ms, ...more(request) };
    if (isQuiet(request, status)) log.debug("request", fields);
    else log.info("request", fields);
  };
  return (request) => {
    const startedAt = performance.now();
    const response = fetch(request);
    if (response instanceof Promise) {
      return response.then((answer) => {
        write(request, answer, startedAt);
        return answer;
      });
    }
    write(request, response, startedAt);
    return response;
  };
}
