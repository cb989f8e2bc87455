import { createHash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../wire/failure.ts";
import { writeAtomic } from "./atomic-write.ts";
import { codeOf, diskFailure } from "../wire/disk-failure.ts";

/** Asset files by content: the name of a file is the sha256 of its bytes, so a mounted file never changes. */
export interface Assets {
  /** Stores the bytes when they are not there yet, or not whole any more; returns the digest (sha256 hex). */
  put(bytes: Uint8Array): Promise<string>;
  /** Where the file of a digest is, there or not. Fails `invalid` for anything but a digest. */
  path(digest: string): string;
  /** Reads the file again: `ok`, `missing`, or `altered` when its content is not what its name says. */
  verify(digest: string): Promise<"ok" | "missing" | "altered">;
  /** The bytes of a digest; undefined when they are missing, or altered. */
  read(digest: string): Promise<Uint8Array | undefined>;
  list(): Promise<string[]>;
  /** A missing one is fine. */
  remove(digest: string): Promise<void>;
}

/** Any user of a container may read it. */
const mode = 0o644;
const digestPattern = /^[0-9a-f]{64}$/;

export function createAssets(folder: string): Assets {
  const path = (digest: string) => {
    if (!digestPattern.test(digest)) throw new Failure("invalid", `"${digest}" is not a sha256 digest`);
    return join(folder, digest);
  };
  const bytesAt = async (digest: string) => {
    try {
      return await readFile(path(digest));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw diskFailure(error, path(digest));
    }
  };
  const verify = async (digest: string) => {
    const bytes = await bytesAt(digest);
    if (bytes === undefined) return "missing";
    return digestOf(bytes) === digest ? "ok" : "altered";
  };
  return {
    path,
    verify,
    async put(bytes) {
      const digest = digestOf(bytes);
      if ((await verify(digest)) !== "ok") await writeAtomic(path(digest), bytes, mode);
      return digest;
    },
    async read(digest) {
      const bytes = await bytesAt(digest);
      return bytes !== undefined && digestOf(bytes) === digest ? bytes : undefined;
    },
    async list() {
      return (await readdir(folder)).filter((name) => digestPattern.test(name)).sort();
    },
    async remove(digest) {
      await rm(path(digest), { force: true });
    },
  };
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
