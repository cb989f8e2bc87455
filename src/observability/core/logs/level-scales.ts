import type { Level } from "./line.ts";

/** What loggers call their levels, in small letters. */
const byName = new Map<string, Level>(
  Object.entries({
    trace: "trace trc trce verbose vrb silly finest all",
    debug: "debug dbg dbug fine finer config",
    info: "info inf information informational notice note log success http",
    warn: "warn wrn warning",
    error: "error err fail severe",
    fatal: "fatal ftl crit critical alert emerg emergency panic pnc dpanic",
  }).flatMap(([level, names]) => names.split(" ").map((name) => [name, level as Level])),
);
const nameCharactersMax = 16;

/** The slog package of Go writes levels between its own as a distance: `INFO+2`. */
const distance = /^(DEBUG|INFO|WARN|ERROR)([+-]\d{1,3})$/;
const slogNumbers: Record<string, number> = { DEBUG: -4, INFO: 0, WARN: 4, ERROR: 8 };

/** The level that a logger means by this name, in any case; undefined where it is the name of none. */
export function levelNamed(text: string): Level | undefined {
  if (text.length > nameCharactersMax) return undefined;
  const known = byName.get(text) ?? byName.get(text.trim().toLowerCase());
  if (known !== undefined) return known;
  const [, base = "", far] = distance.exec(text) ?? [];
  if (far === undefined) return undefined;
  const value = (slogNumbers[base] ?? 0) + Number(far);
  return reached(value, [[12, "fatal"], ...slogSteps]) ?? "trace";
}

type Steps = readonly (readonly [from: number, level: Level])[];

/** Whole numbers that loggers write for a level, each scale from its worst level down. */
const slogSteps: Steps = [
  [8, "error"],
  [4, "warn"],
  [0, "info"],
  [-4, "debug"],
];
const pino: Steps = [
  [60, "fatal"],
  [50, "error"],
  [40, "warn"],
  [30, "info"],
  [20, "debug"],
  [10, "trace"],
];
const python: Steps = [
  [50, "fatal"],
  [40, "error"],
  [30, "warn"],
  [20, "info"],
  [10, "debug"],
  [1, "trace"],
];
const logback: Steps = [
  [40_000, "error"],
  [30_000, "warn"],
  [20_000, "info"],
  [10_000, "debug"],
  [5_000, "trace"],
];
const telemetry: Steps = [
  [21, "fatal"],
  [17, "error"],
  [13, "warn"],
  [9, "info"],
  [5, "debug"],
  [1, "trace"],
];
const dotnet: readonly Level[] = ["trace", "debug", "info", "warn", "error", "fatal"];
const monolog = new Map<number, Level>([
  [100, "debug"],
  [200, "info"],
  [250, "info"],
  [300, "warn"],
  [400, "error"],
  [500, "fatal"],
  [550, "fatal"],
  [600, "fatal"],
]);
const googleCloud = new Map<number, Level>([
  [100, "debug"],
  [200, "info"],
  [300, "info"],
  [400, "warn"],
  [500, "error"],
  [600, "fatal"],
  [700, "fatal"],
  [800, "fatal"],
]);

function reached(value: number, steps: Steps): Level | undefined {
  return steps.find(([from]) => value >= from)?.[1];
}

/**
 * Which scale a number is read by. `level`: that of Monolog (hundreds), of pino and bunyan (tens) or of syslog (0 to 7),
 * and nothing between their values. The others have a name or neighbours that only their logger writes.
 */
export type Scale = "level" | "pino" | "python" | "logback" | "severity" | "telemetry" | "dotnet" | "syslog";

/** The level that a number means; undefined where the scale has no such value. */
export function levelNumbered(value: number, scale: Scale): Level | undefined {
  switch (scale) {
    case "level":
      return ofSyslog(value) ?? (value <= 60 && value % 10 === 0 ? reached(value, pino) : monolog.get(value));
    case "severity":
      return ofSyslog(value) ?? googleCloud.get(value);
    case "pino":
      return ofSyslog(value) ?? (value < 100 ? reached(value, pino) : monolog.get(value));
    case "python":
      return value < 100 ? reached(value, python) : undefined;
    case "logback":
      return reached(value, logback);
    case "telemetry":
      return value <= 24 ? reached(value, telemetry) : undefined;
    case "dotnet":
      return dotnet[value];
    case "syslog":
      return ofSyslog(value);
  }
}

/** Syslog counts from 0 for the worst to 7 for debug (RFC 5424, 6.2.1); GELF and journald do the same. */
function ofSyslog(value: number): Level | undefined {
  if (value > 7) return undefined;
  return (["fatal", "fatal", "fatal", "error", "warn", "info", "info", "debug"] as const)[value];
}
