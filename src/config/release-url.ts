import { isLoopbackHost } from "../identity/core/urls.ts";
import { Failure } from "../base/wire/failure.ts";
import { shellVariables } from "./config.ts";

/**
 * Where releases of berth are, without a slash at the end: the flag, or BERTH_RELEASE_URL. Fails `invalid` without one, for
 * http beyond loopback, and for an address with a user: "http://127.0.0.1:1@example.com" is one of example.com.
 */
export function releaseUrlOf(flag: string | undefined, env = shellVariables()): string {
  const url = flag ?? env.BERTH_RELEASE_URL ?? "";
  if (url === "") throw new Failure("invalid", "no release address: give --release-url URL, or set BERTH_RELEASE_URL");
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // What URL reads leniently, another client of HTTP may read as another host.
  const isPlain = /^https?:\/\/[^\s\\@?#]+$/.test(url) && parsed?.username === "" && parsed.password === "";
  const isSafe = parsed?.protocol === "https:" || (parsed?.protocol === "http:" && isLoopbackHost(parsed.hostname));
  if (isPlain && isSafe) return url.replace(/\/+$/, "");
  throw new Failure("invalid", `release address "${url}" is not an https address of the form https://HOST/FOLDER`);
}

/** The file with the keys whose releases are trusted, in place of those that are built in; undefined: none is named. */
export function releaseKeyFileOf(flag: string | undefined, env = shellVariables()): string | undefined {
  const file = flag ?? env.BERTH_RELEASE_PUBLIC_KEY ?? "";
  return file === "" ? undefined : file;
}
