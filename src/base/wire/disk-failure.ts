import { Failure } from "./failure.ts";

/** What the disk refuses, as a `Failure` that names the file; anything else comes back as it is. */
export function diskFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof Failure) return error;
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new Failure("storage_full", `no space left to write "${path}": free some disk space`, { cause: error });
  }
  if (code === undefined) return error;
  return new Failure("unavailable", `"${path}" cannot be used: ${error.message}`, { cause: error });
}

/** The system's name of an error: `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}
