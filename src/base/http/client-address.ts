import { BlockList, isIP } from "node:net";
import { Failure } from "../wire/failure.ts";
import { cameByIngress, type IngressWord } from "./ingress-word.ts";

export interface Proxies {
  /** Address of the other end of the connection. */
  peerOf: (request: Request) => string;
  /** Addresses and networks (`10.0.0.0/8`) whose `X-Forwarded-For` is believed. */
  trusted: readonly string[];
  /** Entries of the header that are looked at, from the right. */
  hopsMax: number;
  /** Our own ingress, which is believed whatever its address. */
  ingress?: IngressWord | undefined;
  /** Told once: a proxy of this machine or of the own network tells clients' addresses, and is not believed. */
  onIgnored?: (proxy: string) => void;
}

/** Networks that no client of the internet comes from (RFC 1918, RFC 4193, RFC 6598), and loopback. */
const ownNetworks = [
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "fc00::/7",
  "127.0.0.0/8",
  "::1",
];

/**
 * Tells the address of the client itself: that of the connection, and behind trusted proxies the rightmost entry of
 * `X-Forwarded-For` that none of them has written about another (RFC 9700, section 4.13). Fails `invalid` for a
 * network that is none.
 */
export function createClientAddress(proxies: Proxies): (request: Request) => string {
  const { peerOf, trusted, hopsMax } = proxies;
  const isTrusted = inNetworks(trusted);
  const isOwn = inNetworks(ownNetworks);
  const comesFromTrusted = createTrust(proxies);
  let { onIgnored } = proxies;
  return (request) => {
    let client = plain(peerOf(request));
    const forwarded = request.headers.get("x-forwarded-for");
    if (forwarded === null || isIP(client) === 0) return client;
    let isBelieved = comesFromTrusted(request);
    if (onIgnored !== undefined && !isBelieved && isOwn(client)) {
      onIgnored(client);
      onIgnored = undefined;
    }
    const hops = forwarded.split(",").slice(-hopsMax).map(addressOf);
    while (isBelieved) {
      const hop = hops.pop();
      if (hop === undefined || isIP(hop) === 0) return client;
      client = hop;
      isBelieved = isTrusted(client);
    }
    return client;
  };
}

/** Whether a request comes straight from a proxy that is trusted. Fails `invalid` for a network that is none. */
export function createTrust({ peerOf, trusted, ingress }: Proxies): (request: Request) => boolean {
  const isListed = inNetworks(trusted);
  return (request) => {
    const peer = plain(peerOf(request));
    return (isIP(peer) !== 0 && isListed(peer)) || (ingress !== undefined && cameByIngress(request, ingress));
  };
}

/** Whether an address is in one of these networks. Fails `invalid` for a network that is none. */
function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = blockList(networks);
  return (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/", 2);
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (family === 0 || !(length <= most)) {
      throw new Failure("invalid", `trusted proxy "${network}" is not an address or network such as 10.0.0.0/8`);
    }
    list.addSubnet(address, length, family === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

/** Some proxies write ports: `1.2.3.4:5678`, `[::1]:5678`. */
function addressOf(entry: string): string {
  const text = entry.trim();
  const match = /^\[([0-9a-fA-F:.]+)\](?::\d+)?$/.exec(text) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text);
  return plain(match?.[1] ?? text);
}

/** One spelling of an address: IPv6 as RFC 5952 writes it, and IPv4 as IPv4 where it comes mapped into IPv6. */
function plain(address: string): string {
  if (isIP(address) !== 6 || address.includes("%")) return address;
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (mapped === null) return short;
  const [high, low] = [Number.parseInt(mapped[1] ?? "", 16), Number.parseInt(mapped[2] ?? "", 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
