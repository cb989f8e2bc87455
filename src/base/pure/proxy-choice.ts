import { isIpv4 } from "./ip.ts";

/** The environment, as far as it names proxies: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, in either case. */
export type ProxyVariables = Readonly<Record<string, string | undefined>>;

interface NamedProxy {
  /** The variable that names the proxy. */
  variable: string;
  value: string;
}

/**
 * The proxy that the environment names for a URL; undefined where the request goes straight to its host. This machine
 * itself is never behind a proxy. Networks in `no_proxy` (`10.0.0.0/8`) are left to the platform's `fetch`, which
 * compares them with the address that it is given.
 */
export function proxyFor(url: URL, variables: ProxyVariables): NamedProxy | undefined {
  if (isOwnHost(url.hostname) || isExcepted(url, variables)) return undefined;
  const scheme = url.protocol.slice(0, -1);
  for (const name of [`${scheme}_proxy`, "all_proxy"]) {
    const found = named(name, variables);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The lower-case spelling wins, as in the platform's `fetch`. */
function named(name: string, variables: ProxyVariables): NamedProxy | undefined {
  for (const variable of [name, name.toUpperCase()]) {
    const value = variables[variable]?.trim() ?? "";
    if (value !== "") return { variable, value };
  }
  return undefined;
}

function isOwnHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return (
    host === "localhost" || host.endsWith(".localhost") || host === "::1" || (isIpv4(host) && host.startsWith("127."))
  );
}

/** An entry is a host with all below it, with or without a port, or `*`. */
function isExcepted(url: URL, variables: ProxyVariables): boolean {
  const list = named("no_proxy", variables)?.value ?? "";
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, host = entry, port] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
    if (port !== undefined && port !== portOf(url)) return false;
    const name = host.replace(/^\*?\./, "").toLowerCase();
    return name !== "" && (url.hostname === name || url.hostname.endsWith(`.${name}`));
  });
}

function portOf({ port, protocol }: URL): string {
  if (port !== "") return port;
  return protocol === "https:" ? "443" : "80";
}

const proxyNames = ["http_proxy", "https_proxy", "all_proxy"];

/** Several spellings of one network: few programs know `127.0.0.0/8` in `no_proxy`, and some no other. */
export const loopbackHosts = ["localhost", "127.0.0.1", "::1", "127.0.0.0/8"];

/**
 * What programs need beside the proxies of their environment so that they reach `hosts` of this machine without one:
 * `no_proxy` in both spellings. Empty where the environment names no proxy.
 */
export function noProxyFor(variables: ProxyVariables, hosts: readonly string[]): Record<string, string> {
  if (!proxyNames.some((name) => named(name, variables) !== undefined)) return {};
  const before = named("no_proxy", variables)?.value.split(/[\s,]+/) ?? [];
  const value = [...new Set([...before, ...hosts])].filter((host) => host !== "").join(",");
  return { no_proxy: value, NO_PROXY: value };
}

/**
 * The proxies as arguments of an image build, in both spellings: Docker knows these names without an `ARG`. A proxy of
 * this machine's loopback is not there in a build, and one with a password is not for everybody who may build.
 */
export function proxyArguments(variables: ProxyVariables): Record<string, string> {
  const usable = proxyNames.flatMap((name) => {
    const value = named(name, variables)?.value ?? "";
    const url = URL.parse(value);
    const isUsable = url !== null && url.username === "" && url.password === "" && !isOwnHost(url.hostname);
    return isUsable ? [[name, value] as const] : [];
  });
  const except = named("no_proxy", variables);
  const all = usable.length > 0 && except !== undefined ? [...usable, ["no_proxy", except.value] as const] : usable;
  return Object.fromEntries(all.flatMap(([name, value]) => [name, name.toUpperCase()].map((each) => [each, value])));
}
