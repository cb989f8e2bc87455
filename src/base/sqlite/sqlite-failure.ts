import { SQLiteError } from "bun:sqlite";
import { readOnlyText } from "../wire/disk-failure.ts";
import { Failure } from "../wire/failure.ts";

/** What SQLite or the disk refuse for reasons outside the program, as a `Failure`; anything else comes back as it is. */
export function sqliteFailure(error: unknown, file: string): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || code === undefined) return error;
  if (code.startsWith("SQLITE_FULL") || code === "ENOSPC") {
    const message = `no space left for database "${file}": free some disk space, nothing of this change was stored`;
    return new Failure("storage_full", message, { cause: error });
  }
  if (code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB")) return damaged(file, error.message, error);
  if (/^(SQLITE_(BUSY|LOCKED|IOERR|READONLY|CANTOPEN|PERM|AUTH)|E[A-Z]+$)/.test(code)) {
    const hint = /IOERR|EIO|READONLY/.test(code) ? "; dmesg and berth doctor show whether its disk has errors" : "";
    const why = code === "EROFS" ? readOnlyText : `${error.message}${hint}`;
    return new Failure("unavailable", `database "${file}" cannot be used: ${why}`, { cause: error });
  }
  return error;
}

export function damaged(file: string, what: string, cause?: unknown): Failure {
  return new Failure(
    "unavailable",
    `database "${file}" is damaged (${what}): restore a backup with \`berth restore FILE\`; running containers are untouched`,
    { cause },
  );
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof SQLiteError) return error.code ?? "";
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Whether another connection holds what this one asked for. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY");
}
