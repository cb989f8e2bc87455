import type { Endpoint } from "../../base/wire/endpoint.ts";
import { getAuthority, listCertificates, renewCertificates } from "./certificates.ts";
import { listAccess } from "./access-log.ts";
import { getIngress, reloadIngress, stopIngress } from "./ingress.ts";
import { getIngressTraffic } from "./traffic.ts";

/** How the operator looks at the ingress, on the orchestration plane. */
export const ingressEndpoints: Endpoint[] = [
  getIngress,
  getIngressTraffic,
  listAccess,
  reloadIngress,
  stopIngress,
  listCertificates,
  renewCertificates,
  getAuthority,
];
