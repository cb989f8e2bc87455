import { isPublicAddress, type ObservabilityOptions } from "../config/observability-options.ts";
import type { BinaryFound } from "../ingress/proxy/binary.ts";
import type { Check } from "./checks.ts";

export interface IngressFacts {
  /** The server is set up to listen for visitors. */
  isOn: boolean;
  binary: BinaryFound;
  /** What the server runs it from where it is not installed; empty: nothing. */
  image: string;
  /** What a running server says of its proxy. */
  proxy: { state: string; problem: string | undefined; image: string | undefined } | undefined;
}

export function checkIngress(facts: IngressFacts): Check {
  const { isOn, binary, proxy } = facts;
  const name = "ingress";
  if (!isOn) return { name, status: "ok", detail: "turned off" };
  const image = proxy?.image ?? facts.image;
  const isMissing = !binary.ok && (image === "" || proxy?.state === "unavailable");
  if (isMissing) {
    const problem = proxy?.problem ?? binary.problem;
    return { name, status: "warn", detail: `ingresses are not served: ${problem}`, mend: install };
  }
  const version = binary.ok && proxy?.image === undefined ? `HAProxy ${binary.binary.version}` : `the image ${image}`;
  if (proxy === undefined) return { name, status: "ok", detail: `${version}, which the server starts` };
  const { state, problem } = proxy;
  if (state === "running" || state === "starting" || state === "waiting")
    return { name, status: "ok", detail: `${version}, ${state}` };
  if (state === "off") return { name, status: "ok", detail: "turned off" };
  if (state === "stopped") {
    return { name, status: "warn", detail: `${version}, stopped`, mend: "start it: berth ingress reload" };
  }
  const mend = "the server tries again by itself; if the problem stays, restart it: systemctl restart berth";
  return { name, status: "fail", detail: `${version}, ${state}: ${problem ?? "no reason given"}`, mend };
}

const install = "apt-get install haproxy, then: systemctl restart berth";

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
