import { getAuthority, listCertificates, renewCertificates } from "../api/certificates.ts";
import type { CertificateViews } from "../service/certificate-views.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readParam } from "../../base/http/request.ts";

export function mountCertificates(plane: Plane, certificates: CertificateViews): void {
  mount(plane, listCertificates, () => certificates.list());
  mount(plane, renewCertificates, ({ params }) => certificates.renew(readParam(params, "name")));
  mount(plane, getAuthority, () => certificates.authority());
}
