import { Failure } from "../wire/failure.ts";
import { allowedAddresses, type GuardOptions } from "./address-guard.ts";
import { pinnedGit } from "./pinned.ts";

interface GitConnection {
  /** The one protocol that git may speak. */
  protocol: string;
  /** Settings of git. */
  config: [string, string][];
}

/**
 * How git connects to a repository: by the protocol of the address alone, never by one that runs a program of the URL's
 * choice (`ext::`), and over https only to the address that was checked. Fails `forbidden` for protocols without
 * encryption and for addresses that are closed.
 */
export async function gitConnection(url: string, guard: GuardOptions): Promise<GitConnection> {
  // `git@host:path` is ssh.
  if (!URL.canParse(url) || /^[\w.-]+@/.test(url)) return { protocol: "ssh", config: [] };
  const parsed = new URL(url);
  const protocol = parsed.protocol.slice(0, -1);
  if (protocol === "ssh" || protocol === "file") return { protocol, config: [] };
  if (protocol !== "https" && !guard.allowPrivate) {
    const message = `"${protocol}:" is not encrypted: use https or ssh, or serve with --allow-private-hooks`;
    throw new Failure("forbidden", message);
  }
  if (protocol !== "https" && protocol !== "http") return { protocol, config: [] };
  const [address = ""] = await allowedAddresses(parsed.hostname, guard);
  return { protocol, config: pinnedGit(parsed, address) };
}
