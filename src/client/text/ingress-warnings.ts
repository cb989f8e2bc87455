import type { CertificateView } from "../../ingress/api/certificates.ts";
import type { IngressStatus } from "../../ingress/api/ingress.ts";
import { certificateNames } from "./certificate-text.ts";

const warningsShown = 10;

/** What keeps visitors away: the proxy, an ingress, or a certificate with a fault. Empty without ingresses. */
export function ingressWarnings(status: IngressStatus, certificates: readonly CertificateView[]): string[] {
  const { proxy, sites } = status;
  if (sites.length === 0) return [];
  const warnings = [
    ...(sites.some(({ plugin }) => plugin === undefined) ? proxyWarnings(proxy) : []),
    ...sites.flatMap(({ ingress, problems }) => problems.map((problem) => `ingress/${ingress}: ${problem}`)),
    ...certificates.flatMap((one) => {
      const fault = one.error ?? (one.state === "expired" ? "expired" : undefined);
      return fault === undefined ? [] : [`certificate of ${certificateNames(one)}: ${fault}; see: berth certs`];
    }),
  ];
  const more = warnings.length - warningsShown;
  return more > 0 ? [...warnings.slice(0, warningsShown), `${more} more: berth ingress ls, berth certs`] : warnings;
}

function proxyWarnings({ state, problem }: IngressStatus["proxy"]): string[] {
  if (state === "running" || state === "starting" || state === "waiting") return [];
  if (state === "failing")
    return [`the proxy does not serve the newest state: ${problem ?? "no reason given"}; see: berth ingress status`];
  return [`no site is served: the proxy is ${state}; see: berth ingress status`];
}
