import { exactText } from "./times.ts";

/** A database as a page shows it, whatever server it is. */
export interface DatabaseFacts {
  version: string;
  primary: number | undefined;
  pods: DatabasePod[];
  /** Size of all databases of the primary, or of the keys in its memory. */
  bytes: number | undefined;
  connections: { used: number; max: number | undefined } | undefined;
  databases: { name: string; bytes: number; owner: string }[];
  links: { app: string; key: string; user: string }[];
  exposed: string | undefined;
  /** WAL is sent to a target; false too where no primary answers. */
  pointInTime: boolean;
}

export interface DatabasePod {
  ordinal: number;
  /** primary, standby, or why it cannot be said. */
  role: string;
  ready: boolean;
  /** Bytes that it does not have yet. */
  behind: number | undefined;
  bytes: number | undefined;
}

export interface Backup {
  id: string;
  bytes: number;
  holds: string;
  /** When it was begun; undefined for an id that says nothing. */
  at: string | undefined;
  /** What its check found; undefined where the plugin does not say. */
  check: "passed" | "failed" | "unchecked" | undefined;
  /** Why it failed, or was not checked. */
  reason: string;
}

/** What `info -o json` of a database plugin says. Fields that are missing, or are something else, are left out. */
export function readFacts(text: string): DatabaseFacts {
  const given = objectOf(JSON.parse(text));
  const pods = listOf(given.pods).map(readPod);
  const databases = listOf(given.databases).map((each) => ({
    name: textOf(each.name),
    bytes: numberOf(each.bytes) ?? 0,
    owner: textOf(each.owner),
  }));
  const primary = numberOf(given.primary);
  const held = databases.length > 0 ? databases.reduce((sum, { bytes }) => sum + bytes, 0) : undefined;
  const connections = objectOf(given.connections);
  const used = numberOf(connections.used);
  return {
    version: textOf(given.version),
    primary,
    pods,
    bytes: held ?? pods.find(({ ordinal }) => ordinal === primary)?.bytes,
    connections: used === undefined ? undefined : { used, max: numberOf(connections.max) },
    databases,
    links: listOf(given.links).map(({ app, key, user }) => ({
      app: textOf(app),
      key: textOf(key),
      user: textOf(user),
    })),
    exposed: typeof given.exposed === "string" ? given.exposed : undefined,
    pointInTime: given.point_in_time !== undefined,
  };
}

function readPod(pod: Fields): DatabasePod {
  return {
    ordinal: numberOf(pod.ordinal) ?? 0,
    role: textOf(pod.role),
    ready: pod.ready === true,
    behind: pod.role === "primary" ? undefined : (numberOf(pod.lag) ?? numberOf(pod.behind)),
    bytes: numberOf(pod.bytes),
  };
}

/** What `backups -o json` says, newest first. */
export function readBackups(text: string): Backup[] {
  return listOf(JSON.parse(text)).map(({ id, bytes, holds, check, reason }) => ({
    id: textOf(id),
    bytes: numberOf(bytes) ?? 0,
    holds: textOf(holds),
    at: backupTime(textOf(id)),
    check: check === "passed" || check === "failed" || check === "unchecked" ? check : undefined,
    reason: textOf(reason),
  }));
}

/** `20260102T030405Z` is when a backup was begun. */
function backupTime(id: string): string | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(id) ?? [];
  const [year, month, day, hour, minute, second] = parts;
  return second === undefined ? undefined : `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}

/** Times that a database can be restored to, as its target has them. */
export interface RestorableTimes {
  target: string;
  /** Epoch milliseconds, oldest first; between them are gaps. */
  ranges: { from: number; to: number }[];
  /** Why WAL does not reach the target now. */
  error: string;
}

/** What `times -o json` of the PostgreSQL plugin says. */
export function readTimes(text: string): RestorableTimes {
  const { target, ranges, error } = objectOf(JSON.parse(text));
  const known = listOf(ranges).map(({ from, to }) => ({ from: Date.parse(textOf(from)), to: Date.parse(textOf(to)) }));
  return {
    target: textOf(target),
    ranges: known.filter(({ from, to }) => !Number.isNaN(from) && !Number.isNaN(to)),
    error: textOf(error),
  };
}

/**
 * What stands in a field for a date and a time of day, in the zone of the browser, as epoch milliseconds. Fails with a
 * sentence for people where nothing of that time can be restored.
 */
export function restorableTime(field: string, ranges: RestorableTimes["ranges"], zone?: string): number {
  const at = Date.parse(field);
  const rangeText = ranges.map(({ from, to }) => `${exactText(from, zone)} to ${exactText(to, zone)}`).join(", or ");
  if (Number.isNaN(at)) throw new Error(`Choose a date and a time of day, from ${rangeText}`);
  if (ranges.some(({ from, to }) => at >= from && at <= to)) return at;
  throw new Error(`${exactText(at, zone)} cannot be restored: choose a time from ${rangeText}`);
}

/** A time as a field for a date and a time of day has it, in the zone of the browser. */
export function fieldTime(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export interface QueryRows {
  columns: string[];
  rows: unknown[][];
  more: boolean;
}

/** What `query -o json` of the PostgreSQL plugin says. */
export function readRows(text: string): QueryRows {
  const { columns, rows, more } = objectOf(JSON.parse(text));
  return {
    columns: Array.isArray(columns) ? columns.map(textOf) : [],
    rows: Array.isArray(rows) ? rows.filter((row): row is unknown[] => Array.isArray(row)) : [],
    more: more === true,
  };
}

export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Words of a command line: `get "a key"` is two. Undefined where a quote is not closed. */
export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  const pattern = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+))(?=\s|$)/y;
  const given = text.trim();
  while (pattern.lastIndex < given.length) {
    const found = pattern.exec(given);
    if (found === null) return undefined;
    const [, double, single, plain] = found;
    words.push(double?.replaceAll(/\\(.)/g, "$1") ?? single ?? plain ?? "");
  }
  return words;
}

type Fields = Record<string, unknown>;

function objectOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
