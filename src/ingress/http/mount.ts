import type { CertificateViews } from "../service/certificate-views.ts";
import type { IngressViews } from "../service/ingress-views.ts";
import type { Plane } from "../../base/http/mount.ts";
import { mountCertificates } from "./certificates.ts";
import { mountAccessLog } from "./access-log.ts";
import { mountProxy } from "./ingress.ts";

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
