import { isFromAfar, sees } from "../../access/apps.ts";
import type { Principal } from "../../access/principal.ts";
import type { CertificateViews } from "../service/certificate-views.ts";
import type { IngressViews } from "../service/ingress-views.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { getAuthority, listCertificates, renewCertificates } from "../api/certificates.ts";
import { readCount, readParam } from "../../base/http/request.ts";
import { getIngress, type IngressStatus, reloadIngress, stopIngress } from "../api/ingress.ts";
import { getIngressTraffic } from "../api/traffic.ts";
import { listAccess } from "../api/access-log.ts";
import { isStatusFilter } from "../core/access-entry.ts";
import { Failure } from "../../base/wire/failure.ts";

const [pageDefault, pageMax] = [100, 1_000];

function mountAccessLog(plane: Plane, views: Pick<IngressViews, "access">): void {
  mount(plane, listAccess, async ({ query: { ingress, status, request_id: requestId, after, limit } }) => {
    if (status !== undefined && !isStatusFilter(status)) {
      throw new Failure("invalid", `status: "${status}" is not a status; use a number such as 404, or 5xx`);
    }
    const from = readCount("after", after, Number.MAX_SAFE_INTEGER);
    const filter = {
      ...(ingress === undefined ? {} : { ingress }),
      ...(status === undefined ? {} : { status }),
      ...(requestId === undefined ? {} : { requestId }),
      ...(from === undefined ? {} : { after: from }),
    };
    return { entries: await views.access(filter, readCount("limit", limit, pageMax) ?? pageDefault) };
  });
}

/** What the ingress shows and does on the orchestration plane. */
export interface IngressRoutes {
  certificates: CertificateViews;
  views: IngressViews;
}

export function mountIngress(plane: Plane, { certificates, views }: IngressRoutes): void {
  mountProxy(plane, views);
  mountAccessLog(plane, views);
  mountCertificates(plane, { certificates, views });
}

/** A site belongs to its ingress and to the app that it leads to; either opens it. */
async function seenSites(views: Pick<IngressViews, "status">, by: Principal): Promise<IngressStatus> {
  const { proxy, sites } = await views.status();
  const isSeen = (text: string) => {
    const [scope = "", name = ""] = text.split("/", 2);
    return sees(by, { scope, name });
  };
  return { proxy, sites: sites.filter(({ ingress, target }) => isSeen(ingress) || isSeen(target)) };
}

function mountCertificates(plane: Plane, { certificates, views }: IngressRoutes): void {
  const seen = async (by: Principal) => {
    const all = certificates.list().certificates;
    if (sees(by, {})) return all;
    const hosts = new Set((await seenSites(views, by)).sites.flatMap((site) => site.hosts));
    return all.filter(({ names }) => names.some((name) => hosts.has(name)));
  };
  mount(plane, listCertificates, async ({ by }) => ({ certificates: await seen(by) }));
  mount(plane, renewCertificates, async ({ params, query, by }) => {
    const { host }: { host?: string } = query;
    const name = host ?? readParam(params, "name");
    if (isFromAfar(by) && !(await seen(by)).some(({ id, names }) => id === name || names.includes(name))) {
      throw new Failure("not_found", `no certificate of ${JSON.stringify(name)}, or this token may not see it`);
    }
    return certificates.renew(name);
  });
  mount(plane, getAuthority, () => certificates.authority());
}

function mountProxy(plane: Plane, views: IngressViews): void {
  mount(plane, getIngress, async ({ by, query }) => {
    const { proxy, sites } = await seenSites(views, by);
    // Tokens have it: each site with its requests of the last minute.
    const { traffic }: { traffic?: string } = query;
    if (traffic === undefined) return { proxy, sites };
    const bySite = new Map(views.traffic().sites.map((one) => [one.ingress, { traffic: one }]));
    return { proxy, sites: sites.map((site) => ({ ...site, ...bySite.get(site.ingress) })) };
  });
  mount(plane, getIngressTraffic, () => views.traffic());
  mount(plane, reloadIngress, () => views.reload());
  mount(plane, stopIngress, () => views.stop());
}
