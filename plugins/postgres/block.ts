import type { Block } from "../kit/block.ts";
import { type Fields, identifier, readFields, type Rule } from "../kit/fields.ts";
import { passOn } from "../kit/statefulset.ts";

/** A postgres block, defaults filled in. */
export interface PostgresBlock {
  image: string;
  replicas: number;
  port: number;
  database: string;
  user: string;
  /** Beside the first one. */
  users: string[];
  databases: { name: string; owner: string; extensions: string[] }[];
  /** Of the first database. */
  extensions: string[];
  /** postgresql.conf, as written. */
  settings: Record<string, string>;
  encoding: string;
  locale: string;
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

/** Names that the server or the machinery has for itself. */
const taken = ["postgres", "maintenance", "template0", "template1"];

const extensionRule: Rule = {
  pattern: /^[a-z][a-z0-9_-]{0,62}$/,
  form: 'the name of an extension, such as "pgcrypto"',
};

/** Reads and checks the spec of a block; fails naming every field that is wrong. */
export function readPostgres({ spec, config }: Pick<Block, "spec" | "config">): PostgresBlock {
  const fields = readFields(spec);
  const block: PostgresBlock = {
    image: fields.text("image", "postgres:17"),
    replicas: fields.whole("replicas", 1, { least: 1, most: 16 }),
    port: fields.whole("port", 5432, { least: 1, most: 65_535 }),
    database: fields.text("database", "app", identifier),
    user: fields.text("user", "app", identifier),
    users: fields.words("users", identifier),
    databases: [],
    extensions: fields.words("extensions", extensionRule),
    settings: fields.map("settings"),
    encoding: fields.text("encoding", "UTF8", { pattern: /^[A-Za-z0-9_-]+$/, form: 'an encoding such as "UTF8"' }),
    locale: fields.text("locale", "C.UTF-8", { pattern: /^[A-Za-z0-9_.@-]+$/, form: 'a locale such as "C.UTF-8"' }),
    storage: fields.text("storage", "10Gi"),
    backups: readBackups(fields.block("backups")),
    env: fields.map("env"),
    volumes: fields.words("volumes"),
    ports: [],
    dockerOptions: fields.words("docker_options"),
    passed: passOn(fields),
  };
  block.ports = fields.raw("ports") === undefined ? [String(block.port)] : fields.words("ports");
  block.databases = fields.blocks("databases").map((database) => ({
    name: database.name("name", identifier),
    owner: database.text("owner", block.user, identifier),
    extensions: database.words("extensions", extensionRule),
  }));
  checkNames(block, fields);
  checkSettings(block, fields);
  checkPrimary(block, config, fields);
  fields.done();
  return block;
}

function readBackups(fields: Fields | undefined): Backups {
  return {
    keep: fields?.whole("keep", 7, { least: 1, most: 1_000 }) ?? 7,
    schedule: fields?.text("schedule", "") ?? "",
    timezone: fields?.text("timezone", "UTC") ?? "UTC",
    timeout: fields?.text("timeout", "6h") ?? "6h",
  };
}

function checkNames(block: PostgresBlock, fields: Fields): void {
  const users = [block.user, ...block.users];
  const databases = [block.database, ...block.databases.map(({ name }) => name)];
  for (const name of new Set([...users, ...databases])) {
    if (!taken.includes(name) && !name.startsWith("pg_") && !name.startsWith("berth_")) continue;
    const field =
      name === block.user
        ? "user"
        : name === block.database
          ? "database"
          : users.includes(name)
            ? "users"
            : "databases";
    fields.problem(field, `"${name}" is taken by the server itself; choose another name`);
  }
  for (const name of repeated(users)) fields.problem("users", `"${name}" is there twice`);
  for (const name of repeated(databases)) fields.problem("databases", `"${name}" is there twice`);
  for (const [index, { owner }] of block.databases.entries()) {
    if (!users.includes(owner))
      fields.problem(`databases[${index}].owner`, `"${owner}" is no user of this block; add it to users`);
  }
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

/** What the machinery sets, and what would run or load other programs. */
const ownSettings = [
  "listen_addresses",
  "port",
  "hba_file",
  "ident_file",
  "data_directory",
  "config_file",
  "unix_socket_directories",
  "password_encryption",
  "wal_level",
  "wal_log_hints",
  "hot_standby",
  "recovery_target_timeline",
  "primary_conninfo",
  "include",
  "include_dir",
  "include_if_exists",
];

function checkSettings({ settings }: PostgresBlock, fields: Fields): void {
  for (const [key, value] of Object.entries(settings)) {
    if (!/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$/.test(key))
      fields.problem(`settings.${key}`, "is not the name of a setting");
    else if (ownSettings.includes(key)) fields.problem(`settings.${key}`, "is set by the plugin; leave it out");
    if (/[\n\r\0]/.test(value)) fields.problem(`settings.${key}`, "must be one line");
  }
}

function checkPrimary({ replicas }: PostgresBlock, config: Block["config"], fields: Fields): void {
  const primary = Number(config.PG_PRIMARY_ORDINAL ?? "0");
  if (primary < replicas) return;
  fields.problem("replicas", `pod ${primary} is primary and ${replicas} would remove it; promote a lower one first`);
}
