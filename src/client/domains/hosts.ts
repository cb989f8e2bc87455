import { hostsOf } from "../../base/pure/hosts.ts";

type Spec = Readonly<Record<string, unknown>>;

/** The spec of an ingress with one more host; undefined where it has it already. */
export function withHost(spec: Spec, host: string): Spec | undefined {
  const hosts = hostsOf(spec);
  if (hosts.includes(host)) return undefined;
  return hosts.length === 0 ? { ...spec, host } : withHosts(spec, [...hosts, host]);
}

/** The spec without a host; undefined where it does not have it. One without any host is the caller's to refuse. */
export function withoutHost(spec: Spec, host: string): Spec | undefined {
  const hosts = hostsOf(spec);
  return hosts.includes(host)
    ? withHosts(
        spec,
        hosts.filter((one) => one !== host),
      )
    : undefined;
}

/** One host is `host`; several are `host` as it was, where it stays, and `hosts`. */
function withHosts({ host, hosts: _hosts, ...rest }: Spec, hosts: readonly string[]): Spec {
  const [first = "", ...others] = hosts;
  if (others.length === 0) return { ...rest, host: first };
  return host === undefined ? { ...rest, hosts } : { ...rest, host: first, hosts: others };
}
