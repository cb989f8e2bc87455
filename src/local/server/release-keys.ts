import { readTextFile } from "../../base/disk/read-text.ts";
import { Failure } from "../../base/wire/failure.ts";
import { releaseKeyFileOf, releaseUrlOf } from "../../config/release-url.ts";
import { serverLimits } from "../../config/server-limits.ts";
import { builtInReleaseKeys } from "../../version.ts";
import type { ReleaseSource } from "./release.ts";
import { publicKeys } from "./ssh-signature.ts";

/**
 * Where releases come from, and the keys that they are signed with: those of a file, or those that were built in. Fails
 * `invalid` where there is no key: without one, any server at the address could send anything.
 */
export async function releaseSource(flags: {
  url: string | undefined;
  keyFile: string | undefined;
}): Promise<ReleaseSource> {
  const url = releaseUrlOf(flags.url);
  const file = releaseKeyFileOf(flags.keyFile);
  const text = file === undefined ? builtInReleaseKeys : await readTextFile(file, serverLimits.releaseTextBytesMax);
  const keys = publicKeys(text);
  if (keys.length > 0) return { url, keys };
  throw new Failure(
    "invalid",
    file === undefined
      ? "this executable was built without a release key, so it cannot check a release: give --release-key FILE, or set BERTH_RELEASE_PUBLIC_KEY to the file of the public key"
      : `"${file}" holds no public key; it has lines such as "ssh-ed25519 AAAA…"`,
  );
}
