import { Failure } from "../base/wire/failure.ts";
import { allowanceOf, parseAddress } from "./values.ts";
import { hostOk } from "../base/pure/hosts.ts";

/** Who may reach the orchestration plane. */
export interface AccessOptions {
  /** `host:port`; empty turns the port off. */
  addr: string;
  /** The port lets every client in: any address is fine, and no client is checked. */
  addrInsecure: boolean;
  /** Names that may stand in `Host` and `Origin`, lower case, without ports. */
  allowedHosts: readonly string[];
}

/** Fails `invalid` for an address that other machines reach, unless that is wanted, and for a host that is none. */
export function accessOptions(texts: { addr: string; addrInsecure: string; allowedHosts: string }): AccessOptions {
  const { addr } = texts;
  const addrInsecure = allowanceOf("addr insecure", texts.addrInsecure);
  const allowedHosts = texts.allowedHosts.split(",").flatMap((text) => allowedHost(text.trim()));
  if (addr === "" || isLoopbackAddress(addr)) return { addr, addrInsecure, allowedHosts };
  if (addrInsecure) return { addr, addrInsecure, allowedHosts: [...allowedHosts, hostOf(addr)] };
  throw new Failure(
    "invalid",
    `address "${addr}" is reachable from other machines, and this port has no password: every client that reaches it is root here; ` +
      "use 127.0.0.1:PORT and an SSH tunnel, or add --addr-insecure (BERTH_ADDR_INSECURE=true)",
  );
}

/** Whether only this machine reaches an address. Fails `invalid` for one that is none. */
export function isLoopbackAddress(addr: string): boolean {
  const { hostname } = parseAddress(addr);
  return hostname === "localhost" || hostname === "::1" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function hostOf(addr: string): string {
  const { hostname } = parseAddress(addr);
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function allowedHost(text: string): string[] {
  if (text === "") return [];
  const host = text.toLowerCase();
  const isName = hostOk(host) && !host.startsWith("*");
  if (isName || /^\[[0-9a-f:.]+\]$/.test(host)) return [host];
  throw new Failure("invalid", `allowed host "${text}" is not a host name: write it without https://, port and path`);
}
