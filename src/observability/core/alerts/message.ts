import type { Alert, Severity } from "../../api/alerts.ts";

/** What one message reports, as it is stored until every channel has it. */
export interface Message {
  id: string;
  group: string;
  /** Host name of the machine. */
  server: string;
  at: string;
  fired: Alert[];
  resolved: Alert[];
  /** Fire still, and were reported before. */
  reminded: Alert[];
  /** Alerts of the group that fire after this message. */
  firing: number;
  test?: true;
}

const titleMax = 80;
const linesMax = 10;
const lineMax = 200;
const listMax = 10;

export const severityRank: Record<Severity, number> = { critical: 0, warning: 1, info: 2 };

/** The most severe of what a message reports. */
export function severityOf({ fired, reminded, resolved }: Message): Severity {
  const reported = fired.length + reminded.length > 0 ? [...fired, ...reminded] : resolved;
  return bySeverity(reported)[0]?.severity ?? "info";
}

export function isEnd({ fired, reminded }: Message): boolean {
  return fired.length + reminded.length === 0;
}

export function bySeverity(alerts: readonly Alert[]): Alert[] {
  return alerts.toSorted((a, b) => severityRank[a.severity] - severityRank[b.severity]);
}

/** What a phone shows first: at most 80 characters, the subject in front. */
export function titleText(message: Message): string {
  const { fired, reminded, resolved } = message;
  const lead = fired.length > 0 ? fired : reminded.length > 0 ? reminded : resolved;
  const [first, ...more] = bySeverity(lead);
  if (first === undefined) return "nothing to report";
  const prefix = fired.length > 0 ? "" : reminded.length > 0 ? "still: " : "resolved: ";
  const suffix = more.length === 0 ? "" : `, and ${more.length} more`;
  return `${prefix}${clip(oneLine(first.title), titleMax - prefix.length - suffix.length)}${suffix}`;
}

interface BodyOptions {
  /** With the last lines of output of the app. */
  lines: boolean;
  charactersMax: number;
}

/** Plain text: what was seen, what changed before, the last lines, what to type. */
export function bodyText(message: Message, { lines, charactersMax }: BodyOptions): string {
  const { fired, reminded, resolved, server } = message;
  const bad = bySeverity([...fired, ...reminded]);
  const parts = [
    ...(message.test === true ? ["This is a test: nothing is wrong."] : []),
    ...listed(bad, message.at),
    ...(resolved.length === 0 ? [] : endText(resolved, bad.length > 0)),
    `server ${server}`,
    ...whyText(bad[0], lines),
  ];
  return clip(parts.join("\n"), charactersMax);
}

function listed(alerts: readonly Alert[], at: string): string[] {
  const [first, ...more] = alerts;
  if (first === undefined) return [];
  if (more.length === 0) return [oneLine(first.detail), sinceText(first, at)].filter((text) => text !== "");
  const shown = alerts
    .slice(0, listMax)
    .map(({ title, detail }) => `- ${oneLine(title)}${detail === "" ? "" : `: ${oneLine(detail)}`}`);
  const rest = alerts.length - shown.length;
  return [...shown, ...(rest > 0 ? [`- and ${rest} more`] : [])];
}

function sinceText({ severity, since }: Alert, at: string): string {
  return `${severity}, since ${clockText(since)} (${spanText(Date.parse(at) - Date.parse(since))})`;
}

function endText(resolved: readonly Alert[], isMixed: boolean): string[] {
  const shown = resolved.slice(0, listMax).map(({ title, fired_at: from, resolved_at: to }) => {
    const took = from === undefined || to === undefined ? "" : ` after ${spanText(Date.parse(to) - Date.parse(from))}`;
    return `${isMixed || resolved.length > 1 ? `- resolved${took}: ${oneLine(title)}` : `resolved${took}`}`;
  });
  const rest = resolved.length - shown.length;
  return [...shown, ...(rest > 0 ? [`- and ${rest} more resolved`] : [])];
}

function whyText(alert: Alert | undefined, withLines: boolean): string[] {
  const why = alert?.why;
  if (why === undefined) return [];
  const lines = withLines ? why.lines.slice(-linesMax) : [];
  const section = (head: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : ["", head, ...texts.map((text) => `  ${clip(printable(text), lineMax)}`)];
  return [...section("changed before:", why.changes), ...section("last lines:", lines), ...section("type:", why.next)];
}

/** `03:12 UTC` */
export function clockText(iso: string): string {
  return `${iso.slice(11, 16)} UTC`;
}

/** In its largest units: `45s`, `12m`, `3h 5m`, `2d 4h`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours}h` : `${hours}h ${minutes % 60}m`;
  return hours % 24 === 0 ? `${hours / 24}d` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** The first characters of a text; never half of one, and an ellipsis where some are missing. */
export function clip(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `${characters.slice(0, Math.max(0, max - 1)).join("")}…`;
}

/** Like `clip`, by the bytes of UTF-8. */
export function clipBytes(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  let end = Math.max(0, max - Buffer.byteLength("…"));
  // Never half of a character: those that follow its first byte are 10xxxxxx.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString("utf8", 0, end)}…`;
}

export function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, " ").trim());
}

/** Output of apps may hold colours and worse, such as marks that turn the direction of a text. */
function printable(text: string): string {
  return text
    .replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "")
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
}
