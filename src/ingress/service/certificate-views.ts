import { X509Certificate } from "node:crypto";
import type { CertificateView, getAuthority, listCertificates } from "../api/certificates.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import type { Certificates } from "../certs/create.ts";
import type { CertificateStatus } from "../certs/status.ts";

/** The certificates as the API shows them. */
export interface CertificateViews {
  list(): DataOf<typeof listCertificates>;
  /** Those that are renewed. Fails `not_found` when none is for the name. */
  renew(name: string): DataOf<typeof listCertificates>;
  authority(): Promise<DataOf<typeof getAuthority>>;
}

export function createCertificateViews(certificates: Certificates): CertificateViews {
  return {
    list: () => ({ certificates: certificates.list().map(viewOf) }),
    renew(name) {
      const ids = new Set(certificates.renew(name.toLowerCase()));
      return {
        certificates: certificates
          .list()
          .filter(({ id }) => ids.has(id))
          .map(viewOf),
      };
    },
    async authority() {
      const certificate = await certificates.root();
      const { fingerprint256, subject, validTo } = new X509Certificate(certificate);
      return {
        certificate,
        common_name: subject.replace(/^CN=/, ""),
        sha256: fingerprint256.replaceAll(":", "").toLowerCase(),
        not_after: new Date(validTo).toISOString(),
      };
    },
  };
}

function viewOf(status: CertificateStatus): CertificateView {
  const { id, names, issuer, state, isUnderWay, failures } = status;
  const { issuedBy, serial, notBefore, notAfter, renewAt, error, nextTryAt } = status;
  return {
    ...{ id, names: [...names], issuer, state, issuing: isUnderWay, failures },
    ...(status.isOnDemand ? { on_demand: true } : {}),
    ...(issuedBy === undefined ? {} : { issued_by: issuedBy }),
    ...(serial === undefined ? {} : { serial }),
    ...(notBefore === undefined ? {} : { not_before: isoOf(notBefore) }),
    ...(notAfter === undefined ? {} : { not_after: isoOf(notAfter) }),
    ...(renewAt === undefined ? {} : { renew_at: isoOf(renewAt) }),
    ...(error === undefined ? {} : { error }),
    ...(nextTryAt === undefined ? {} : { next_try_at: isoOf(nextTryAt) }),
  };
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
