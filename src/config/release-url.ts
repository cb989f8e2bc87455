import { isLoopbackHost } from "../identity/core/urls.ts";
import { Failure } from "../base/wire/failure.ts";
import { shellVariables } from "./config.ts";

/**
 * Where releases of berth are, without a slash at the end: the flag, or BERTH_RELEASE_URL. Fails `invalid` without one, and
 * for http beyond loopback: a release without TLS can be replaced on its way, its checksums too.
 */
export function releaseUrlOf(flag: string | undefined, env = shellVariables()): string {
  const url = flag ?? env.BERTH_RELEASE_URL ?? "";
  if (/^https:\/\/[^\s]+$/.test(url) || isLoopback(url)) return url.replace(/\/+$/, "");
  if (url !== "") throw new Failure("invalid", `release address "${url}" is not an https address`);
  throw new Failure("invalid", "no release address: give --release-url URL, or set BERTH_RELEASE_URL");
}

function isLoopback(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" && isLoopbackHost(url.hostname);
}
