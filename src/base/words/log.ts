/** A structured log: one JSON line per entry, a constant message plus fields. */
export interface Log {
  /** Whether an entry of this level would be written: for what is asked thousands of times a second. */
  writes(level: LogLevel): boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with fields on every line. */
  with(fields: LogFields): Log;
}

export type LogFields = Record<string, unknown>;

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

export function createLog(write: (line: string) => void, level: LogLevel = "info", base: LogFields = {}): Log {
  const least = logLevels.indexOf(level);
  const at =
    (entryLevel: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (logLevels.indexOf(entryLevel) < least) return;
      // First for the reader's eye, and last so that no field takes their place.
      const head = { time: new Date().toISOString(), level: entryLevel, message };
      write(`${textOf({ ...head, ...base, ...fields, ...head })}\n`);
    };
  return {
    writes: (entryLevel) => logLevels.indexOf(entryLevel) >= least,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => createLog(write, level, { ...base, ...fields }),
  };
}

/** A replacer makes JSON several times slower, and only something that holds an error needs one. */
function textOf(entry: LogFields): string {
  const isFlat = Object.values(entry).every((value) => typeof value !== "object" || value === null);
  return isFlat ? JSON.stringify(entry) : JSON.stringify(entry, errorsAsText);
}

function errorsAsText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const cause = value.cause === undefined ? undefined : { cause: value.cause };
  return { name: value.name, text: value.message, stack: value.stack, ...cause };
}
