import { durationMs } from "./duration.ts";
import type { Link } from "./links.ts";
import { defaultAfter } from "./failover-options.ts";
import type { Fields } from "./fields.ts";
import { passOn } from "./statefulset.ts";

/** What every block of a server with standbys may say, defaults filled in. */
export interface ServerBlock {
  image: string;
  replicas: number;
  port: number;
  /** The server's own configuration, as written. */
  settings: Record<string, string>;
  /** Expected size of a pod's volume, for people. */
  storage: string;
  backups: Backups;
  failover: FailoverBlock | undefined;
  links: Link[];
  env: Record<string, string>;
  volumes: string[];
  ports: string[];
  dockerOptions: string[];
  passed: Record<string, unknown>;
  /** Copies of its dumps outside of the machine, as written; undefined: none. */
  copies: Readonly<Record<string, unknown>> | undefined;
  /** The same, as the schedule of `backups` means them; undefined where `backup` is written. */
  scheduled: ScheduledCopies | undefined;
}

export interface Backups {
  /** Backups that stay when a newer one is complete. */
  keep: number;
  /** Older ones go, but never the newest; 0 for no such limit. */
  maxAgeMs: number;
  /** Cron expression; empty for none by themselves. */
  schedule: string;
  timezone: string;
  /** Limit of one run: a duration. */
  timeout: string;
}

/** What `backups: {schedule, keep}` is in the words of `backup`. */
interface ScheduledCopies {
  every: string;
  keep: string;
  everyMs: number;
}

/** What another pod takes over for by itself. */
export interface FailoverBlock {
  /** How long the primary is not ready: a duration. */
  after: string;
  synchronous: boolean;
}

export interface ServerDefaults {
  image: string;
  port: number;
  /** The highest port that leaves room for what the server needs beside it. */
  portMost: number;
  storage: string;
  /** Whether a write can wait until a standby has it. */
  canWait: boolean;
}

export function readServerBlock(fields: Fields, defaults: ServerDefaults): ServerBlock {
  const replicas = fields.whole("replicas", 1, { least: 1, most: 16 });
  const port = fields.whole("port", defaults.port, { least: 1, most: defaults.portMost });
  const backups = readBackups(fields.block("backups"));
  const copies = readCopies(fields);
  return {
    image: fields.text("image", defaults.image),
    replicas,
    port,
    settings: fields.map("settings"),
    storage: fields.text("storage", defaults.storage),
    backups,
    failover: readFailover(fields, replicas, defaults),
    // Read when users and databases are known.
    links: [],
    env: fields.map("env"),
    volumes: fields.words("volumes"),
    ports: fields.raw("ports") === undefined ? [String(port)] : fields.words("ports"),
    dockerOptions: fields.words("docker_options"),
    passed: passOn(fields),
    copies,
    scheduled: copies === undefined ? scheduledCopies(backups) : undefined,
  };
}

function readBackups(fields: Fields | undefined): Backups {
  return {
    keep: fields?.whole("keep", 7, { least: 1, most: 1_000 }) ?? 7,
    maxAgeMs: readMaxAge(fields),
    schedule: fields?.text("schedule", "") ?? "",
    timezone: fields?.text("timezone", "UTC") ?? "UTC",
    timeout: fields?.text("timeout", "6h") ?? "6h",
  };
}

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
/** The longest duration that a manifest takes, in whole days: a schedule once a month is a copy more often. */
const longestMs = 24 * dayMs;
/** Fixed, so that a block always means the same. */
const scheduleBeginsAt = Date.UTC(2026, 0, 5);
const instantsAsked = 50;

/** As often as the schedule at its closest, and for as long as its backups stay; undefined without a schedule that can be read. */
function scheduledCopies({ schedule, timezone, keep }: Backups): ScheduledCopies | undefined {
  const instants = instantsOf(schedule, timezone);
  const gaps = instants.slice(1).map((at, index) => at - (instants[index] ?? at));
  if (gaps.length === 0) return undefined;
  // A day on which clocks change counts as a whole one.
  const least = Math.min(...gaps);
  const periodMs = least >= 23 * hourMs ? Math.round(least / dayMs) * dayMs : Math.max(least, minuteMs);
  const everyMs = Math.min(periodMs, longestMs);
  const every = everyMs % hourMs === 0 ? `${everyMs / hourMs}h` : `${Math.round(everyMs / minuteMs)}m`;
  return { every, everyMs, keep: `${Math.min(9_999, Math.ceil((keep * periodMs) / dayMs))}d` };
}

/** A schedule that cannot be read is the fault of its cron job, which the server reports. */
function instantsOf(schedule: string, timezone: string): number[] {
  const instants: number[] = [];
  try {
    for (let at: number | undefined = scheduleBeginsAt; instants.length < instantsAsked; instants.push(at)) {
      at = Bun.cron.parse(schedule, at, { tz: timezone })?.getTime();
      if (at === undefined) break;
    }
  } catch {
    return [];
  }
  return instants;
}

/** The rest of `backup` is the same as of a statefulset, whose rules the server knows. */
function readCopies(fields: Fields): ServerBlock["copies"] {
  const written = fields.raw("backup");
  if (written === undefined) return undefined;
  if (!isObject(written)) {
    fields.problem("backup", "expected an object, such as {} or {every: 6h}");
    return undefined;
  }
  for (const field of ["volumes", "pre", "post", "exclude"]) {
    if (field in written) fields.problem(`backup.${field}`, "is set by the plugin; leave it out");
  }
  return written;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readMaxAge(fields: Fields | undefined): number {
  const text = fields?.text("max_age", "") ?? "";
  const ms = text === "" ? 0 : durationMs(text);
  if (ms === undefined) fields?.problem("max_age", `"${text}" is not a duration; write it like "30d" or "12h"`);
  return ms ?? 0;
}

/** A dead container is back within seconds, and a restart of a pod must not lose what it had not sent. */
const leastAfterMs = 5_000;

function readFailover(fields: Fields, replicas: number, defaults: ServerDefaults): FailoverBlock | undefined {
  const inner = fields.block("failover");
  if (inner === undefined) return undefined;
  const after = inner.text("after", defaultAfter);
  if ((durationMs(after) ?? 0) < leastAfterMs) {
    inner.problem("after", `"${after}" is not a duration of at least 5s; write it like "30s" or "2m"`);
  }
  if (replicas < 2) fields.problem("failover", "needs a standby; set replicas to 2 or more");
  return { after, synchronous: defaults.canWait ? inner.flag("synchronous", false) : false };
}

/** What the settings of a server look like. */
export interface SettingRule {
  name: RegExp;
  /** Names of those that the plugin sets. */
  own: readonly string[];
}

export function checkSettings(settings: ServerBlock["settings"], rule: SettingRule, fields: Fields): void {
  for (const [key, value] of Object.entries(settings)) {
    if (!rule.name.test(key)) fields.problem(`settings.${key}`, "is not the name of a setting");
    else if (rule.own.includes(key)) fields.problem(`settings.${key}`, "is set by the plugin; leave it out");
    if (/[\n\r\0]/.test(value)) fields.problem(`settings.${key}`, "must be one line");
  }
}

/** `primary` is what the config says; nothing before the first apply. */
export function checkPrimary(replicas: number, primary: string | undefined, fields: Fields): void {
  const ordinal = Number(primary ?? "0");
  if (ordinal < replicas) return;
  fields.problem(
    "replicas",
    `pod ${ordinal} is primary and ${replicas} would remove it; make a lower one primary first`,
  );
}

/** `exposed` is what the config says of a command; ports that the block writes come first. */
export function checkExposed(block: ServerBlock, exposed: string | undefined, fields: Fields): void {
  if (exposed === undefined || fields.raw("ports") !== undefined) return;
  if (block.replicas > 1) fields.problem("replicas", `one pod is exposed on ${exposed}; take that away with: unexpose`);
  block.ports = [`${exposed}:${block.port}`];
}
