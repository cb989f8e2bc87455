import { listAccess } from "../../../ingress/api/access-log.ts";
import { getIngress } from "../../../ingress/api/ingress.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { listRequests, VisitorRequest } from "../../api/traffic.ts";
import { isOfApp, pageBack } from "../paging.ts";
import { actorOf, type Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";

/** Which requests are wanted. */
interface RequestFilter {
  app: string | undefined;
  host: string | undefined;
  /** Beginning of it. */
  path: string | undefined;
  method: string | undefined;
  /** `404`, or `5xx`. */
  status: string | undefined;
  slowerThanMs: number | undefined;
  requestId: string | undefined;
  failed: boolean;
  limit: number;
  before: number | undefined;
}

/** What visitors asked for. */
export interface TrafficRoom {
  requests(grant: Grant, filter: RequestFilter): Promise<DataOf<typeof listRequests>>;
}

const batch = 1_000;
const looksMax = 2;

export function createTrafficRoom({ platform }: Pick<ObservabilityContext, "platform">): TrafficRoom {
  return {
    async requests(grant, filter) {
      const client = platform.as(actorOf(grant), grant);
      const { sites } = await client.call(getIngress);
      const targets = new Map(sites.map(({ ingress, target }) => [ingress, target]));
      const { limit, before } = filter;
      const { rows, next } = await pageBack<VisitorRequest>(
        {
          ...{ limit, looksMax },
          // The platform hands out the newest alone: older ones are out of reach.
          read: async () => {
            const { entries } = await client.call(listAccess, { query: { limit: String(batch) } });
            return entries.map((entry): VisitorRequest => {
              const app = targets.get(entry.ingress);
              return app === undefined ? entry : { ...entry, app };
            });
          },
          numberOf: ({ seq }) => seq,
          isTooOld: () => false,
          isWanted: (request) => targets.has(request.ingress) && fits(request, filter),
        },
        before,
      );
      return { requests: rows, ...(next === undefined ? {} : { next }) };
    },
  };
}

function fits(request: VisitorRequest, filter: RequestFilter): boolean {
  const { host, path, method, status, slowerThanMs, requestId, failed, app } = filter;
  const [scope, name] = (request.app ?? request.ingress).split("/", 2);
  return (
    isOfApp(app, { ...(scope === undefined ? {} : { scope }), ...(name === undefined ? {} : { name }) }) &&
    (host === undefined || request.host === host) &&
    (path === undefined || request.path.startsWith(path)) &&
    (method === undefined || request.method === method.toUpperCase()) &&
    (status === undefined || hasStatus(request, status)) &&
    (slowerThanMs === undefined || request.ms > slowerThanMs) &&
    (requestId === undefined || request.request_id === requestId) &&
    (!failed || request.status === undefined || request.status >= 500)
  );
}

function hasStatus({ status }: VisitorRequest, wanted: string): boolean {
  return wanted.endsWith("xx") ? Math.floor((status ?? 0) / 100) === Number(wanted[0]) : String(status) === wanted;
}
