import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { assetDigest, plainMode } from "../pure/digest.ts";
import { Failure } from "../wire/failure.ts";
import { writeAtomic } from "./atomic-write.ts";
import { codeOf, diskFailure } from "../wire/disk-failure.ts";

/** Asset files by content and mode: the name of a file is a digest of both, so a mounted file never changes. */
export interface Assets {
  /** Stores the bytes when they are not there yet, or not whole any more; returns the digest (`assetDigest`). */
  put(bytes: Uint8Array, mode?: number): Promise<string>;
  /** Where the file of a digest is, there or not. Fails `invalid` for anything but a digest. */
  path(digest: string): string;
  /** Reads the file again: `ok`, `missing`, or `altered` when its content or mode is not what its name says. */
  verify(digest: string): Promise<"ok" | "missing" | "altered">;
  /** The bytes of a digest; undefined when they are missing, or altered. */
  read(digest: string): Promise<Uint8Array | undefined>;
  list(): Promise<string[]>;
  /** A missing one is fine. */
  remove(digest: string): Promise<void>;
}

const digestPattern = /^[0-9a-f]{64}$/;

export function createAssets(folder: string): Assets {
  const path = (digest: string) => {
    if (!digestPattern.test(digest)) throw new Failure("invalid", `"${digest}" is not a sha256 digest`);
    return join(folder, digest);
  };
  /** The bytes of a file, and whether they and its mode are what its name says. */
  const find = async (digest: string) => {
    try {
      const bytes = await readFile(path(digest));
      const isWhole = assetDigest(bytes, plainMode) === digest || assetDigest(bytes, await modeOf(digest)) === digest;
      return { bytes, isWhole };
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw diskFailure(error, path(digest));
    }
  };
  const modeOf = async (digest: string) => (await stat(path(digest))).mode & 0o777;
  const verify = async (digest: string) => {
    const found = await find(digest);
    return found === undefined ? "missing" : found.isWhole ? "ok" : "altered";
  };
  return {
    path,
    verify,
    async put(bytes, mode = plainMode) {
      const digest = assetDigest(bytes, mode);
      if ((await verify(digest)) !== "ok") await writeAtomic(path(digest), bytes, mode);
      return digest;
    },
    async read(digest) {
      const found = await find(digest);
      return found?.isWhole === true ? found.bytes : undefined;
    },
    async list() {
      return (await readdir(folder)).filter((name) => digestPattern.test(name)).sort();
    },
    async remove(digest) {
      await rm(path(digest), { force: true });
    },
  };
}
