import type { CertificateView } from "../api/certificates.ts";
import { type Answered, areFailing } from "../api/failed-share.ts";
import { covers } from "./certificates/names.ts";

/** What visitors of an ingress got. */
export interface RecentRequests extends Answered {
  /** Length of the span that ends now. */
  seconds: number;
}

/** That visitors get errors; undefined while they do not, or hardly. */
export function failingRequests({ seconds, requests, failed }: RecentRequests): string | undefined {
  if (failed === 0 || !(areFailing({ requests, failed }) || failed === requests)) return undefined;
  return `${failed} of ${requests} requests failed in the last ${seconds} s`;
}

/**
 * Hosts for which the server has no certificate that visitors accept, and why. While the first one is being ordered, and
 * for hosts that a visitor has to ask for, nothing is missing.
 */
export function missingCertificates(
  hosts: readonly string[],
  certificates: readonly Pick<CertificateView, "names" | "state" | "issuing" | "failures" | "error">[],
): string[] {
  return hosts.flatMap((host) => {
    const own = certificates.filter(({ names }) => names.some((name) => covers(name, host)));
    const [first] = own;
    const isOrdered = own.some(({ issuing, failures }) => issuing && failures === 0);
    if (first === undefined || isOrdered || own.some(({ state }) => state === "valid")) return [];
    const why = own.find(({ error }) => error !== undefined)?.error ?? wordOf[first.state];
    return [`no valid certificate for ${host}: ${why}`];
  });
}

const wordOf: Record<CertificateView["state"], string> = {
  valid: "",
  expired: "it has expired",
  pending: "none was issued yet",
  failed: "the last try failed",
};
