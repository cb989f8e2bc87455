import type { BinaryFound } from "../ingress/proxy/binary.ts";
import type { Check } from "./checks.ts";

export interface IngressFacts {
  /** The server is told to listen for visitors. */
  isOn: boolean;
  binary: BinaryFound;
  /** What a running server says of its proxy. */
  proxy: { state: string; problem: string | undefined } | undefined;
}

export function checkIngress({ isOn, binary, proxy }: IngressFacts): Check {
  const name = "ingress";
  if (!isOn) return { name, status: "ok", detail: "turned off" };
  if (!binary.ok) {
    const mend = "apt-get install haproxy, then: systemctl restart berth";
    return { name, status: "warn", detail: `ingresses are not served: ${binary.problem}`, mend };
  }
  const version = `HAProxy ${binary.binary.version}`;
  if (proxy === undefined) return { name, status: "ok", detail: `${version}, which the server starts` };
  const { state, problem } = proxy;
  if (state === "running" || state === "starting") return { name, status: "ok", detail: `${version}, ${state}` };
  if (state === "off") return { name, status: "ok", detail: "turned off" };
  if (state === "stopped") {
    return { name, status: "warn", detail: `${version}, stopped`, mend: "start it: berth ingress reload" };
  }
  const mend = "the server tries again by itself; if the problem stays, restart it: systemctl restart berth";
  return { name, status: "fail", detail: `${version}, ${state}: ${problem ?? "no reason given"}`, mend };
}
