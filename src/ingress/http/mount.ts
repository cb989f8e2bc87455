import type { CertificateViews } from "../service/certificate-views.ts";
import type { IngressViews } from "../service/ingress-views.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { getAuthority, listCertificates, renewCertificates } from "../api/certificates.ts";
import { readCount, readParam } from "../../base/http/request.ts";
import { getIngress, reloadIngress, stopIngress } from "../api/ingress.ts";
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
  mountCertificates(plane, certificates);
}

function mountCertificates(plane: Plane, certificates: CertificateViews): void {
  mount(plane, listCertificates, () => certificates.list());
  mount(plane, renewCertificates, ({ params }) => certificates.renew(readParam(params, "name")));
  mount(plane, getAuthority, () => certificates.authority());
}

function mountProxy(plane: Plane, views: IngressViews): void {
  mount(plane, getIngress, () => views.status());
  mount(plane, getIngressTraffic, () => views.traffic());
  mount(plane, reloadIngress, () => views.reload());
  mount(plane, stopIngress, () => views.stop());
}
