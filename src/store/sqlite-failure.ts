import { SQLiteError } from "bun:sqlite";
import { Failure } from "../api/failure.ts";

/** What SQLite refuses for reasons outside the program, as a `Failure`; anything else comes back as it is. */
export function sqliteFailure(error: unknown, file: string): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const code = error.code ?? "";
  if (code.startsWith("SQLITE_FULL")) {
    const message = `no space left for database "${file}": free some disk space, nothing of this change was stored`;
    return new Failure("storage_full", message, { cause: error });
  }
  if (code.startsWith("SQLITE_CORRUPT") || code.startsWith("SQLITE_NOTADB")) return damaged(file, error.message, error);
  if (/^SQLITE_(BUSY|LOCKED|IOERR|READONLY|CANTOPEN|PERM|AUTH)/.test(code)) {
    return new Failure("unavailable", `database "${file}" cannot be used: ${error.message}`, { cause: error });
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
