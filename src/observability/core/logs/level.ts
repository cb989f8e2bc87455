import type { Level } from "./line.ts";

/** A level is looked for in this much of a line: a text further on speaks of something else. */
const textCharacters = 160;

const inJson = /"(?:level|severity|lvl|levelname|log\.level|loglevel)"\s*:\s*(?:"([A-Za-z]+)"|(\d{1,3})\b)/i;
const inLogfmt = /(?:^|\s)(?:level|lvl|severity)=["']?([A-Za-z]+)/;
/** klog and glog: `E0131 13:05:00.000000`. */
const klog = /^([IWEF])\d{4} \d{2}:\d{2}:/;
/** syslog and the kernel: `<3>`. */
const priority = /^<(\d{1,3})>/;
/** In capitals anywhere, in small letters only within brackets or before a colon. */
const word =
  /\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|CRIT|CRITICAL|ALERT|EMERG|FATAL|PANIC)\b|\[(trace|debug|info|notice|warn|warning|error|err|crit|critical|alert|emerg|fatal|panic)\]|^(?:\S+ )?(debug|info|warn|warning|error|fatal|panic): /;

const byWord: Record<string, Level> = {
  trace: "trace",
  verbose: "trace",
  silly: "trace",
  debug: "debug",
  dbg: "debug",
  info: "info",
  information: "info",
  informational: "info",
  notice: "info",
  log: "info",
  warn: "warn",
  warning: "warn",
  error: "error",
  err: "error",
  severe: "error",
  fatal: "fatal",
  crit: "fatal",
  critical: "fatal",
  alert: "fatal",
  emerg: "fatal",
  emergency: "fatal",
  panic: "fatal",
  dpanic: "fatal",
};

/** The level that a line says, in JSON, logfmt, klog, syslog or as a word near its beginning. */
export function levelOf(text: string): Level {
  if (text.startsWith("{")) {
    const found = inJson.exec(text);
    if (found !== null) return ofWord(found[1]) ?? ofNumber(found[2]) ?? "none";
    return "none";
  }
  const head = text.length > textCharacters ? text.slice(0, textCharacters) : text;
  const named = ofWord(inLogfmt.exec(head)?.[1]);
  if (named !== undefined) return named;
  const letter = klog.exec(head)?.[1];
  if (letter !== undefined)
    return letter === "I" ? "info" : letter === "W" ? "warn" : letter === "E" ? "error" : "fatal";
  const code = priority.exec(head)?.[1];
  if (code !== undefined) return ofPriority(Number(code) % 8);
  const found = word.exec(head);
  return found === null ? "none" : (ofWord(found[1] ?? found[2] ?? found[3]) ?? "none");
}

function ofWord(text: string | undefined): Level | undefined {
  return text === undefined ? undefined : byWord[text.toLowerCase()];
}

/** bunyan and pino count 10 for trace to 60 for fatal; syslog counts 0 for the worst to 7 for debug. */
function ofNumber(text: string | undefined): Level | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value < 8) return ofPriority(value);
  return (["trace", "debug", "info", "warn", "error", "fatal"] as const)[Math.min(Math.floor(value / 10), 6) - 1];
}

function ofPriority(value: number): Level {
  if (value <= 2) return "fatal";
  if (value === 3) return "error";
  if (value === 4) return "warn";
  return value === 7 ? "debug" : "info";
}
