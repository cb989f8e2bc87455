import { isIpAddress, isIpv4 } from "../../base/pure/ip.ts";
import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";
import type { PortBinding } from "./workload.ts";

const form = 'write "80", "8080:80", "127.0.0.1:8080:80" or "53:53/udp"';
/** Without an address a port is published on loopback only: the ingress is the way in. */
const loopback = "127.0.0.1";

/**
 * Docker's publish syntax. `p`: a free port; `h:c`; `ip:h:c`; `ip::c`; `[::1]:h:c`; each with `/tcp`, `/udp`, `/sctp`.
 * Ranges are taken apart before: see `portTexts`.
 * Beyond it `ip:p`, which plugins write: the same port on both sides.
 */
export function parsePort(text: string): Parsed<PortBinding> {
  const [address = "", protocolText = "tcp", ...more] = text.split("/");
  const protocol = protocolOf(protocolText);
  if (protocol === undefined || more.length > 0) return unreadable(`"${text}" is not a port; ${form}`);
  if (/\d-\d/.test(address)) return unreadable(`"${text}" is not a range of ports; ${rangeForm}`);
  const { ip, ports } = splitAddress(address);
  if (ip !== undefined && !isIpAddress(ip)) {
    return unreadable(`"${text}" starts with "${ip}", which is not an IP address; ${form}`);
  }
  const [first] = ports;
  const [hostText, containerText] = ports.length === 1 ? [ip === undefined ? "" : first, first] : ports;
  const containerPort = portNumber(containerText);
  const hostPort = hostText === "" ? undefined : portNumber(hostText);
  const hostMissing = hostText === "" && ports.length === 2 && ip === undefined;
  if (ports.length > 2 || containerPort === undefined || (hostText !== "" && hostPort === undefined) || hostMissing) {
    return unreadable(`"${text}" is not a port; ${form}, each from 1 to 65535`);
  }
  return parsed({ hostIp: ip ?? loopback, hostPort, containerPort, protocol });
}

/** Ports of one range: the engine keeps a process for each that it publishes. */
const rangeMax = 1_000;
const rangeForm =
  `write "8000-8010", "9000-9010:8000-8010" or "127.0.0.1:9000-9010:8000-8010/udp": as many ports on both sides, ` +
  `ascending, at most ${rangeMax}; with network_mode: host no port needs to be named`;

/** An entry of a spec, one text for each port: a range means what its ports mean one by one. An entry that is not a range stays. */
export function portTexts(text: string): string[] {
  const found = rangeOf(text);
  if (found === undefined) return [text];
  const { ip, from, to, count, protocol } = found;
  return Array.from({ length: count }, (_, index) => {
    const inner = to === undefined ? "" : `:${to + index}`;
    return `${ip}${from + index}${inner}${protocol}`;
  });
}

/** Whether the entries of a spec name more ports than the engine can publish; counted without taking ranges apart. */
export function tooManyPorts(entries: readonly string[]): string | undefined {
  const count = entries.reduce((sum, text) => sum + (rangeOf(text)?.count ?? 1), 0);
  return count > rangeMax
    ? `${count} ports; the most is ${rangeMax}, with network_mode: host none is named`
    : undefined;
}

function rangeOf(text: string) {
  const [, ip = "", first, last, second, end, protocol = ""] = range.exec(text) ?? [];
  if (first === undefined || last === undefined) return undefined;
  const [from, count] = [Number(first), Number(last) - Number(first) + 1];
  const to = second === undefined ? undefined : Number(second);
  const isEven = to === undefined || Number(end) - to + 1 === count;
  return isEven && count >= 1 && count <= rangeMax ? { ip, from, to, count, protocol } : undefined;
}

/** `[ip:[:]]a-b[:c-d][/protocol]` */
const range = /^((?:\[[^\]]*\]|\d+\.\d+\.\d+\.\d+)::?)?(\d{1,5})-(\d{1,5})(?::(\d{1,5})-(\d{1,5}))?(\/\w+)?$/;

/** Whether both would bind the same host port. Bindings without a fixed host port never clash. */
export function portsClash(a: PortBinding, b: PortBinding): boolean {
  if (a.hostPort === undefined || a.hostPort !== b.hostPort || a.protocol !== b.protocol) return false;
  return a.hostIp === b.hostIp || isWildcard(a.hostIp) || isWildcard(b.hostIp);
}

function isWildcard(ip: string): boolean {
  return ip === "0.0.0.0" || ip === "::";
}

function splitAddress(address: string): { ip: string | undefined; ports: string[] } {
  if (address.startsWith("[")) {
    const end = address.indexOf("]:");
    return end < 0
      ? { ip: address, ports: [] }
      : { ip: address.slice(1, end), ports: address.slice(end + 2).split(":") };
  }
  const parts = address.split(":");
  const hasIp = parts.length === 3 || (parts.length === 2 && isIpv4(parts[0] ?? ""));
  return hasIp ? { ip: parts[0], ports: parts.slice(1) } : { ip: undefined, ports: parts };
}

function portNumber(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65535 ? port : undefined;
}

function protocolOf(text: string): PortBinding["protocol"] | undefined {
  return text === "tcp" || text === "udp" || text === "sctp" ? text : undefined;
}
