import { isIP, isIPv4 } from "node:net";
import { Failure } from "../wire/failure.ts";
import { isPublicIpv4, isPublicIpv6 } from "./public-address.ts";

/** All addresses of a host name, in the order to try them. */
export type Resolve = (hostname: string) => Promise<string[]>;

export interface GuardOptions {
  resolve: Resolve;
  /** Addresses inside the machine and its networks are fine too. */
  allowPrivate: boolean;
  /** Flag of `serve` that opens them; webhooks' own where left out. */
  allowFlag?: string;
}

/**
 * The addresses of a host that may be connected to, IPv4 first. The caller connects to one of them and never resolves
 * the name again: a second answer could be another one (DNS rebinding). Fails `forbidden` when the host has only
 * addresses that are not public, `unavailable` when it has none.
 */
export async function allowedAddresses(host: string, options: GuardOptions): Promise<string[]> {
  const { resolve, allowPrivate, allowFlag = "--allow-private-hooks" } = options;
  const hostname = host.replace(/^\[|\]$/g, "");
  const known = isIP(hostname) > 0 ? [hostname] : (await lookUp(hostname, resolve)).filter((one) => isIP(one) > 0);
  if (known.length === 0) throw new Failure("unavailable", `the host "${hostname}" has no address`);
  const allowed = allowPrivate ? known : known.filter(isPublicAddress);
  if (allowed.length === 0) {
    throw new Failure(
      "forbidden",
      `the host "${hostname}" has no public address (${known[0]}); serve with ${allowFlag} to allow it`,
    );
  }
  return [...allowed.filter((one) => isIPv4(one)), ...allowed.filter((one) => !isIPv4(one))];
}

/** Whether an IP address (v4 or v6, without brackets) is one of the open internet. Anything else is not. */
export function isPublicAddress(address: string): boolean {
  return isIPv4(address) ? isPublicIpv4(address) : isIP(address) === 6 && isPublicIpv6(address);
}

/** Whether a host is closed whatever a name server says: an address that is not public, or the machine's own name. */
export function isClosedHost(host: string): boolean {
  const hostname = host.replace(/^\[|\]$/g, "");
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true;
  return isIP(hostname) > 0 && !isPublicAddress(hostname);
}

async function lookUp(hostname: string, resolve: Resolve): Promise<string[]> {
  try {
    return await resolve(hostname);
  } catch (cause) {
    throw new Failure("unavailable", `the host "${hostname}" cannot be resolved`, { cause });
  }
}
