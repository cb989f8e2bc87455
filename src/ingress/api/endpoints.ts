import type { Endpoint } from "../../base/wire/endpoint.ts";
import { getAuthority, listCertificates, renewCertificates } from "./certificates.ts";
import { getIngress, reloadIngress, stopIngress } from "./ingress.ts";

/** How the operator looks at the ingress, on the orchestration plane. */
export const ingressEndpoints: Endpoint[] = [
  getIngress,
  reloadIngress,
  stopIngress,
  listCertificates,
  renewCertificates,
  getAuthority,
];
