import type { CertificateViews } from "../service/certificate-views.ts";
import type { Plane } from "../../base/http/mount.ts";
import { mountCertificates } from "./certificates.ts";

/** What the ingress shows and does on the orchestration plane. */
export interface IngressRoutes {
  certificates: CertificateViews;
}

export function mountIngress(plane: Plane, { certificates }: IngressRoutes): void {
  mountCertificates(plane, certificates);
}
