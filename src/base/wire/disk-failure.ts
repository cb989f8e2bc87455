import { Failure } from "./failure.ts";

/** What the disk refuses, as a `Failure` that names the file; anything else comes back as it is. */
export function diskFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof Failure) return error;
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new Failure("storage_full", `no space left to write "${path}": free some disk space`, { cause: error });
  }
  if (code === undefined) return error;
  if (code === "EROFS")
    return new Failure("unavailable", `"${path}" cannot be written: ${readOnlyText}`, { cause: error });
  return new Failure("unavailable", `"${path}" cannot be used: ${error.message}`, { cause: error });
}

export const readOnlyText =
  "its disk is read-only, as a disk with errors becomes: dmesg says why; repair it, and mount it writable again";

/** Whether the disk, or the file of a database on it, refused to store something; not for what has no room elsewhere. */
export function isDiskRefusal(error: unknown): boolean {
  if (!(error instanceof Failure)) return false;
  if (error.code === "storage_full") return error.reason !== "DiskLow";
  const cause = error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : "";
  return error.code === "unavailable" && /^(SQLITE_(IOERR|READONLY|CANTOPEN)|EROFS|EIO|EDQUOT)/.test(cause);
}

/** The system's name of an error: `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}
