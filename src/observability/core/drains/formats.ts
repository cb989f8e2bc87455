import type { FoundLine, Level } from "../logs/line.ts";

/** Facility local0; severities of RFC 5424. */
const facility = 16;
const severities: Record<Level, number> = { fatal: 2, error: 3, warn: 4, info: 6, none: 6, debug: 7, trace: 7 };
const appNameMax = 48;
const processIdMax = 128;
/** The number for documentation and private use, which collectors know from other senders. */
const enterprise = 32473;

/** One message of RFC 5424. */
export function syslogMessage(line: FoundLine, hostname: string): string {
  const { app, source, level, stream, at, text } = line;
  const head = [
    `<${facility * 8 + severities[level]}>1`,
    new Date(at).toISOString(),
    word(hostname, 255),
    word(`${app.scope}.${app.name}`, appNameMax),
    word(source.replica, processIdMax),
    "-",
  ];
  const fields = { scope: app.scope, name: app.name, pod: source.pod, release: source.release, stream };
  const data = Object.entries(fields).map(
    ([key, value]) => `${key}="${value.replaceAll(/["\\\]]/g, String.raw`\$&`)}"`,
  );
  return `${head.join(" ")} [berth@${enterprise} ${data.join(" ")}] ${text}`;
}

/** A message as a stream carries it: behind its length in bytes (RFC 6587, RFC 5425). */
export function syslogFrame(line: FoundLine, hostname: string): string {
  const message = syslogMessage(line, hostname);
  return `${Buffer.byteLength(message)} ${message}`;
}

function word(text: string, most: number): string {
  return text.replaceAll(/[^\x21-\x7e]/g, "_").slice(0, most) || "-";
}

/** One JSON object on a line, with the names that `GET /logs/search` uses. */
export function jsonLine({ at, app, source, stream, level, text }: FoundLine, hostname: string): string {
  const { pod, replica, release } = source;
  const line = {
    at: new Date(at).toISOString(),
    host: hostname,
    ...app,
    pod,
    replica_id: replica,
    release_id: release,
    stream,
    level,
    text,
  };
  return `${JSON.stringify(line)}\n`;
}

/** Name of an object: by the hour of its first line, and the same for the same lines. */
export function objectName(prefix: string, first: { at: number; skip: number }): string {
  const time = new Date(first.at).toISOString();
  return `${prefix}${time.slice(0, 10).replaceAll("-", "/")}/${time.slice(11, 19).replaceAll(":", "")}-${first.at}-${first.skip}.jsonl.gz`;
}
