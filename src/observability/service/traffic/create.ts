import { listAccess } from "../../../ingress/api/access-log.ts";
import { type CertificateView, listCertificates, renewCertificates } from "../../../ingress/api/certificates.ts";
import { getIngress, type IngressSite } from "../../../ingress/api/ingress.ts";
import { getIngressTraffic } from "../../../ingress/api/traffic.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { listRequests, listSites, VisitorRequest } from "../../api/traffic.ts";
import { isOfApp, pageBack } from "../paging.ts";
import { mayReach, reachesAll } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";

/** Which requests are wanted. */
export interface RequestFilter {
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

/** What visitors reach, over which certificates, and what they asked for. */
export interface TrafficRoom {
  sites(grant: Grant): Promise<DataOf<typeof listSites>>;
  /** Those that expire first first. */
  certificates(grant: Grant): Promise<CertificateView[]>;
  /** Fails `not_found` for a host that the token may not see. */
  renew(by: { grant: Grant; actor: string }, host: string): Promise<CertificateView[]>;
  requests(grant: Grant, filter: RequestFilter): Promise<DataOf<typeof listRequests>>;
}

const batch = 1_000;
const looksMax = 2;

export function createTrafficRoom({ platform }: Pick<ObservabilityContext, "platform">): TrafficRoom {
  const client = platform.as("observability");

  async function sitesOf(grant: Grant) {
    const { proxy, sites } = await client.call(getIngress);
    return { proxy, sites: sites.filter((site) => sees(grant, site)) };
  }

  async function certificatesOf(grant: Grant): Promise<CertificateView[]> {
    const { certificates } = await client.call(listCertificates);
    const hosts = reachesAll(grant) ? undefined : new Set((await sitesOf(grant)).sites.flatMap((site) => site.hosts));
    return certificates
      .filter(({ names }) => hosts === undefined || names.some((name) => hosts.has(name)))
      .sort((a, b) => (a.not_after ?? "").localeCompare(b.not_after ?? ""));
  }

  return {
    async sites(grant) {
      const [{ proxy, sites }, traffic] = await Promise.all([sitesOf(grant), client.call(getIngressTraffic)]);
      const bySite = new Map(traffic.sites.map((one) => [one.ingress, one]));
      return {
        proxy,
        sites: sites.map((site) => {
          const seen = bySite.get(site.ingress);
          return seen === undefined ? site : { ...site, traffic: seen };
        }),
      };
    },
    certificates: certificatesOf,
    async renew({ grant, actor }, host) {
      const known = await certificatesOf(grant);
      if (!known.some(({ id, names }) => id === host || names.includes(host))) {
        throw new Failure("not_found", `no certificate of ${JSON.stringify(host)}, or this token may not see it`);
      }
      return (await platform.as(actor, grant).call(renewCertificates, { params: { name: host } })).certificates;
    },
    async requests(grant, filter) {
      const targets = new Map((await sitesOf(grant)).sites.map(({ ingress, target }) => [ingress, target]));
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

/** A site belongs to its ingress and to the app that it leads to; either opens it. */
function sees(grant: Grant, { ingress, target }: Pick<IngressSite, "ingress" | "target">): boolean {
  return [ingress, target].some((text) => {
    const [scope = "", name = ""] = text.split("/", 2);
    return mayReach(grant, { scope, name });
  });
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
