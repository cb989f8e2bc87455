import { Failure } from "../base/wire/failure.ts";
import { networksOf, parseAddress, valueOrOff } from "./values.ts";

/** Where the ingress listens, and whom it believes. */
export interface IngressOptions {
  /** Where visitors reach the apps over plain HTTP; empty: off. */
  ingressHttpAddr: string;
  /** Like `ingressHttpAddr`, over TLS. */
  ingressHttpsAddr: string;
  /** Networks in front whose X-Forwarded-* headers are believed: a CDN or a load balancer. */
  ingressTrustedProxies: readonly string[];
  /** Networks that begin each connection with a PROXY protocol header. */
  ingressProxyProtocol: readonly string[];
  /** Unit of systemd that runs HAProxy; empty: the server starts it itself. */
  ingressUnit: string;
  /** Image that HAProxy runs from where it is not installed; empty: never. */
  ingressImage: string;
  /** Plugin that takes every ingress which is applied and names none; empty: none. */
  ingressPlugin: string;
}

/** A version whose commands are tested here, with fixes until 2027. */
const defaultImage = "haproxy:2.6";

/** From flags and the environment. Fails `invalid` for an address or a network that cannot be. */
export function ingressOptions(
  flags: Partial<Record<keyof IngressOptions, string>>,
  env: Record<string, string | undefined>,
): IngressOptions {
  const http = valueOrOff(flags.ingressHttpAddr ?? env.BERTH_INGRESS_HTTP_ADDR ?? ":80");
  const https = valueOrOff(flags.ingressHttpsAddr ?? env.BERTH_INGRESS_HTTPS_ADDR ?? ":443");
  const trusted = valueOrOff(flags.ingressTrustedProxies ?? env.BERTH_INGRESS_TRUSTED_PROXIES ?? "");
  const proxyHeader = valueOrOff(flags.ingressProxyProtocol ?? env.BERTH_INGRESS_PROXY_PROTOCOL ?? "");
  for (const address of [http, https]) if (address !== "") parseAddress(address);
  return {
    ingressHttpAddr: http,
    ingressHttpsAddr: https,
    ingressTrustedProxies: networksOf("ingress trusted proxies", trusted),
    ingressProxyProtocol: networksOf("ingress proxy protocol", proxyHeader),
    ingressUnit: unitName(flags.ingressUnit ?? env.BERTH_INGRESS_UNIT ?? ""),
    ingressPlugin: pluginName(valueOrOff(flags.ingressPlugin ?? env.BERTH_INGRESS_PLUGIN ?? "")),
    ingressImage: imageName(valueOrOff(flags.ingressImage ?? env.BERTH_INGRESS_IMAGE ?? defaultImage)),
  };
}

function unitName(name: string): string {
  if (name === "" || /^[\w@.:-]+\.service$/.test(name)) return name;
  throw new Failure(
    "invalid",
    `ingress unit "${name}" is not the name of a service of systemd, such as berth-ingress.service`,
  );
}

function pluginName(name: string): string {
  if (name === "" || /^[a-z0-9][a-z0-9_-]{0,62}$/.test(name)) return name;
  throw new Failure("invalid", `ingress plugin "${name}" is not a plugin name; write it as "berth plugins" shows it`);
}

function imageName(reference: string): string {
  if (reference === "" || /^[A-Za-z0-9][\w./:@-]*$/.test(reference)) return reference;
  throw new Failure("invalid", `ingress image "${reference}" is not an image reference, such as ${defaultImage}`);
}
