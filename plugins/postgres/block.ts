import type { Block } from "../kit/block.ts";
import { readDeclaredLinks } from "../kit/declared-links.ts";
import { durationMs } from "../kit/duration.ts";
import { type Fields, identifier, readFields, type Rule } from "../kit/fields.ts";
import { checkExposed, checkPrimary, checkSettings, readServerBlock, type ServerBlock } from "../kit/server-block.ts";
import { checkOtherWords, inOwnWords } from "../kit/other-words.ts";
import { keys } from "./keys.ts";

/** A postgres block, defaults filled in. */
export interface PostgresBlock extends ServerBlock {
  database: string;
  user: string;
  /** Beside the first one. */
  users: string[];
  databases: { name: string; owner: string; extensions: string[] }[];
  /** Extensions of the first database. */
  extensions: string[];
  encoding: string;
  locale: string;
  pointInTime: PointInTime | undefined;
}

/** Base backups and WAL at a target outside of the machine. */
interface PointInTime {
  /** How often a base backup is made. */
  everyMs: number;
}

const defaults = { image: "postgres:17", port: 5432, portMost: 65_535, storage: "10Gi", canWait: true };

/** What other plugins for PostgreSQL call fields. */
const otherWords = { pg_config: "settings", initdb_locale: "locale", initdb_encoding: "encoding" };

/** Names that the server or the machinery has for itself. */
const taken = ["postgres", "maintenance", "template0", "template1"];

const extensionRule: Rule = {
  pattern: /^[a-z][a-z0-9_-]{0,62}$/,
  form: 'the name of an extension, such as "pgcrypto"',
};

/** Reads and checks the spec of a block; fails naming every field that is wrong. */
export function readPostgres({ scope, spec, config }: Pick<Block, "scope" | "spec" | "config">): PostgresBlock {
  const fields = readFields(inOwnWords(spec, otherWords));
  checkOtherWords(spec, otherWords, fields);
  const block: PostgresBlock = {
    ...readServerBlock(fields, defaults),
    database: fields.text("database", "app", identifier),
    user: fields.text("user", "app", identifier),
    users: fields.words("users", identifier),
    databases: [],
    extensions: fields.words("extensions", extensionRule),
    encoding: fields.text("encoding", "UTF8", { pattern: /^[A-Za-z0-9_-]+$/, form: 'an encoding such as "UTF8"' }),
    locale: fields.text("locale", "C.UTF-8", { pattern: /^[A-Za-z0-9_.@-]+$/, form: 'a locale such as "C.UTF-8"' }),
    pointInTime: readPointInTime(fields.block("point_in_time")),
  };
  block.databases = fields.blocks("databases").map((database) => ({
    name: database.name("name", identifier),
    owner: database.text("owner", block.user, identifier),
    extensions: database.words("extensions", extensionRule),
  }));
  const { user, database } = block;
  const users = [user, ...block.users];
  block.links = readDeclaredLinks(fields, { scope, key: "DATABASE_URL", database, user, users });
  checkNames(block, fields);
  checkSettings(block.settings, { name: /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$/, own: ownSettings }, fields);
  if (block.pointInTime !== undefined) {
    for (const key of archiving.filter((name) => name in block.settings))
      fields.problem(`settings.${key}`, "is set by point_in_time; leave it out");
  }
  if (block.failover?.synchronous === true) {
    for (const key of ["synchronous_standby_names", "synchronous_commit", "fsync"].filter(
      (name) => name in block.settings,
    ))
      fields.problem(`settings.${key}`, "is set by failover.synchronous; leave it out");
  }
  checkExposed(block, config[keys.expose], fields);
  checkPrimary(block.replicas, config[keys.primary], fields);
  fields.done();
  return block;
}

/** Each base backup reads all of the data. */
const leastEveryMs = 3_600_000;

/** `keep` and `target` are for the server, which ships what the pods leave. */
function readPointInTime(fields: Fields | undefined): PointInTime | undefined {
  if (fields === undefined) return undefined;
  const every = fields.text("every", "24h");
  const everyMs = durationMs(every) ?? 0;
  if (everyMs < leastEveryMs) {
    fields.problem("every", `"${every}" is not a duration of at least 1h; write it like "24h" or "7d"`);
  }
  fields.text("keep", "7d", { pattern: /^[1-9]\d{0,2}d$/, form: 'a number of days such as "7d"' });
  fields.text("target", "", {
    pattern: /^[a-z0-9-]{1,40}$/,
    form: "the name of a target of: berth backup target list",
  });
  return { everyMs };
}

/** Settings of a server whose WAL is archived. */
const archiving = ["archive_mode", "archive_command", "archive_library", "restore_command"];

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
      fields.problem(`databases[${index}].owner`, `"${owner}" is not a user of this block; add it to users`);
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
