/** Whether the name of a site leads to the server. */
export interface HostCheck {
  host: string;
  /** `elsewhere`: to other addresses alone; `partly`: also to others; `unknown`: the server's own address is not known. */
  status: "ok" | "missing" | "elsewhere" | "partly" | "unknown";
  /** What it resolves to now. */
  addresses: string[];
  /** The DNS records that it needs, such as `A 203.0.113.5`. */
  records: string[];
}

/** Compares what a host resolves to with the addresses of the server, of which only public ones can be in a record. */
export function checkHost(host: string, addresses: readonly string[], server: readonly string[]): HostCheck {
  const others = addresses.filter((address) => !server.includes(address));
  const reaches = addresses.length > others.length;
  const records = server.filter(isPublic).map((address) => `${address.includes(":") ? "AAAA" : "A"} ${address}`);
  const status =
    addresses.length === 0
      ? "missing"
      : reaches
        ? others.length === 0
          ? "ok"
          : "partly"
        : server.length === 0 || (records.length === 0 && addresses.some(isPublic))
          ? "unknown"
          : "elsewhere";
  return { host, status, addresses: [...addresses], records };
}

/** In a few words, for a table. */
export function statusText({ status, addresses }: HostCheck): string {
  const list = addresses.join(", ");
  switch (status) {
    case "ok":
      return "ok";
    case "missing":
      return "does not resolve";
    case "elsewhere":
      return `leads to ${list}, not to the server`;
    case "partly":
      return `leads to ${list}, of which not all are the server`;
    case "unknown":
      return `leads to ${list}; is that the server?`;
  }
}

/** The record that is missing, or where to find what it must say. */
export function recordText({ status, records }: HostCheck): string {
  if (status === "ok") return "";
  return records.length === 0 ? "A (the public address of the server)" : records.join(", ");
}

/** What to do next where a domain does not lead to the server; `again` is the command that looks once more. */
export function nextText(checks: readonly HostCheck[], again: string): string | undefined {
  const off = checks.filter(({ status }) => status !== "ok");
  if (off.length === 0) return undefined;
  const isUnknown = off.some(({ records }) => records.length === 0);
  const isTaken = off.some(({ status }) => status === "elsewhere" || status === "partly" || status === "unknown");
  return [
    "next: set the record where the DNS of the domain is managed; the server gets the certificate once it leads here",
    ...(isUnknown ? [`  name the public address of the server: ${again} --address IP`] : []),
    ...(isTaken ? ["  a proxy such as a CDN in front of the server is fine: then the DNS leads to the proxy"] : []),
    `  changes of DNS take minutes to hours; look again: ${again}`,
  ].join("\n");
}

/** Sources: RFC 1918, 3927, 4193, 4291, 6598, 8200. */
export function isPublic(address: string): boolean {
  if (address.includes(":")) return !/^(?:::1?$|f[cd]|fe[89ab])/i.test(address);
  const [a = 0, b = 0] = address.split(".").map(Number);
  const isPrivate = a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168);
  return !(isPrivate || a === 127 || a === 0 || (a === 169 && b === 254) || (a === 100 && b >= 64 && b < 128));
}
