import { isPublicAddress, type ObservabilityOptions } from "../config/observability-options.ts";
import type { Check } from "./checks.ts";

/** Who reaches the observability plane, and whether somebody on the way can read along. */
export function checkPlane({ observabilityAddr: address, observabilityTls: tls }: ObservabilityOptions): Check {
  const name = "observability plane";
  if (address === "") return { name, status: "ok", detail: "turned off" };
  if (!isPublicAddress(address)) {
    return { name, status: "ok", detail: "this machine alone reaches it; others use berth ui -r or an ingress" };
  }
  if (tls.kind !== "off") return { name, status: "ok", detail: `${address}, with TLS (${tls.kind})` };
  return {
    name,
    status: "warn",
    detail: `other machines reach ${address} without TLS: everyone on the way can read tokens and figures`,
    mend: "serve with --observability-tls self-signed, or --observability-addr 127.0.0.1:8687 behind an ingress to @observability",
  };
}
