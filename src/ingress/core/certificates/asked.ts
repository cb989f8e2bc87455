import { anyHost } from "../../../base/pure/hosts.ts";
import type { IngressSpec } from "../../../orchestration/api/kinds/ingress.ts";
import { routingDefaults } from "../../../orchestration/api/kinds/routing-defaults.ts";
import { hasTls, type IngressManifest, readIngress } from "../ingress-spec.ts";
import { type Issuer, letsencrypt, letsencryptStaging, type WantedCertificate } from "./wanted.ts";

type Tls = NonNullable<IngressSpec["tls"]>;

const directories = { letsencrypt, letsencrypt_staging: letsencryptStaging };

/**
 * The certificates that the ingresses ask for, each with the hosts that it serves and those that it redirects. With
 * `tls.on_demand`, wildcards are left out: names below them are issued one by one (on-demand.ts).
 */
export function askedCertificates(ingresses: readonly IngressManifest[]): WantedCertificate[] {
  const ordered = ingresses.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  return ordered.flatMap((manifest) => {
    const { spec, hosts, options, isIssuerKnown } = readIngress(manifest);
    const issuer = spec.tls !== undefined && hasTls(spec) && isIssuerKnown ? issuerOf(spec.tls) : undefined;
    if (issuer === undefined) return [];
    const isOnDemand = spec.tls?.on_demand === true;
    const isIssuable = (host: string) =>
      host !== anyHost &&
      (!host.startsWith("*.") || (!isOnDemand && (issuer.kind !== "acme" || issuer.dnsPlugin !== undefined)));
    const names = [...new Set([...hosts, ...options.redirects.map(({ from }) => from)])].filter(isIssuable);
    return names.length === 0 ? [] : [{ names, issuer }];
  });
}

/** Undefined for settings of another version of the server that lack what this one needs. */
export function issuerOf(tls: Tls): Issuer | undefined {
  const { provider = routingDefaults.provider, certificate, key } = tls;
  if (provider === "internal") return { kind: "internal" };
  if (provider === "file") {
    return certificate === undefined || key === undefined ? undefined : { kind: "file", certificate, key };
  }
  const directory = provider === "acme" ? tls.directory : directories[provider];
  if (directory === undefined) return undefined;
  const { eab } = tls;
  return {
    kind: "acme",
    directory,
    email: tls.email,
    root: tls.directory_ca,
    eab: eab === undefined ? undefined : { keyId: eab.kid, key: eab.hmac_key },
    dnsPlugin: tls.dns,
    skipChecks: tls.skip_checks === true,
  };
}

function idOf({ scope, name }: IngressManifest): string {
  return `${scope}/${name}`;
}
