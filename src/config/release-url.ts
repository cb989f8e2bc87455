import { Failure } from "../base/wire/failure.ts";
import { shellVariables } from "./config.ts";

/** Where releases of berth are, without a slash at the end: the flag, or BERTH_RELEASE_URL. Fails `invalid` without one. */
export function releaseUrlOf(flag: string | undefined, env = shellVariables()): string {
  const url = flag ?? env.BERTH_RELEASE_URL ?? "";
  if (/^https?:\/\/[^\s]+$/.test(url)) return url.replace(/\/+$/, "");
  if (url !== "") throw new Failure("invalid", `release address "${url}" is not an http or https address`);
  throw new Failure("invalid", "no release address: give --release-url URL, or set BERTH_RELEASE_URL");
}
