import { asciiDomain } from "./domain-names.ts";

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const hostPattern = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`);
const hostLengthMax = 253;

/** Whether a text is one label of a name in DNS, as Docker and Compose take them: "_" is fine. */
export function isHostLabel(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/i.test(text);
}

/** As a host of an ingress: every host that no other ingress has. */
export const anyHost = "*";

/** Whether a text of `hostKey` is a host name, or `*.` and one. */
export function hostOk(host: string): boolean {
  return host.length <= hostLengthMax && hostPattern.test(host);
}

/** The one spelling of a host: lower case, other scripts as xn--, also after `*.`. A text that is not a host stays as it is, in lower case. */
export function hostKey(host: string): string {
  const [wildcard, name] = host.startsWith("*.") ? ["*.", host.slice(2)] : ["", host];
  const ascii = asciiDomain(name);
  return ascii === undefined ? host.toLowerCase() : `${wildcard}${ascii}`;
}

/** A name that no public certificate authority knows (RFC 2606, RFC 6762, RFC 8375, RFC 9476, ICANN's .internal), or an IPv4 address. */
export function isLocalHost(host: string): boolean {
  const isAddress = /^\d+(?:\.\d+){3}$/.test(host);
  const local = /\.(?:localhost|local|test|internal|example|invalid|lan|home\.arpa)$/;
  return isAddress || !host.includes(".") || local.test(host);
}

/** Hosts of an ingress or app, each in its one spelling, without repeats. */
export function hostsOf(spec: { host?: unknown; hosts?: unknown }): string[] {
  const written = [spec.host, ...(Array.isArray(spec.hosts) ? spec.hosts : [])];
  const hosts = written.filter((host) => typeof host === "string" && host !== "").map(String);
  return [...new Set(hosts.map(hostKey))];
}

/**
 * The plainest of all ways in which apps may read a path: signs decoded, no empty and no dot segments, no parameters, no
 * dots and spaces at the end of a name. A prefix has to be written like this, because the proxy (`hold.lua.txt`)
 * compares it with every reading of a request.
 */
export function plainPath(path: string): string {
  const text = path.replace(/%([0-9A-Fa-f]{2})/g, (escaped, hex: string) => {
    const code = Number.parseInt(hex, 16);
    const sign = String.fromCharCode(code);
    return code > 32 && code < 127 && !"#%?".includes(sign) ? sign : escaped.toUpperCase();
  });
  const segments: string[] = [];
  for (const segment of text.replaceAll("\\", "/").split("/")) {
    const name = segment.replace(/;.*$/, "");
    const plain = name.replace(/(?:[. ]|%20)+$/, "");
    if (name === "..") segments.pop();
    else if (plain !== "") segments.push(plain);
  }
  return `/${segments.join("/")}`;
}

/** One spelling per path prefix: `/api/` and `/api` are the same, the whole host is `/`. */
export function plainLocation(path: string): string {
  return `/${path
    .split("/")
    .filter((part) => part !== "")
    .join("/")}`;
}
