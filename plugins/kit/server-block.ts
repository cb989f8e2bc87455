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
  env: Record<string, string>;
  volumes: string[];
  ports: string[];
  dockerOptions: string[];
  passed: Record<string, unknown>;
}

export interface Backups {
  /** Backups that stay when a newer one is complete. */
  keep: number;
  /** Cron expression; empty for none by themselves. */
  schedule: string;
  timezone: string;
  /** Limit of one run: a duration. */
  timeout: string;
}

export interface ServerDefaults {
  image: string;
  port: number;
  /** The highest port that leaves room for what the server needs beside it. */
  portMost: number;
  storage: string;
}

export function readServerBlock(fields: Fields, defaults: ServerDefaults): ServerBlock {
  const port = fields.whole("port", defaults.port, { least: 1, most: defaults.portMost });
  return {
    image: fields.text("image", defaults.image),
    replicas: fields.whole("replicas", 1, { least: 1, most: 16 }),
    port,
    settings: fields.map("settings"),
    storage: fields.text("storage", defaults.storage),
    backups: readBackups(fields.block("backups")),
    env: fields.map("env"),
    volumes: fields.words("volumes"),
    ports: fields.raw("ports") === undefined ? [String(port)] : fields.words("ports"),
    dockerOptions: fields.words("docker_options"),
    passed: passOn(fields),
  };
}

function readBackups(fields: Fields | undefined): Backups {
  return {
    keep: fields?.whole("keep", 7, { least: 1, most: 1_000 }) ?? 7,
    schedule: fields?.text("schedule", "") ?? "",
    timezone: fields?.text("timezone", "UTC") ?? "UTC",
    timeout: fields?.text("timeout", "6h") ?? "6h",
  };
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
