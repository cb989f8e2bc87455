import type { Block } from "../kit/block.ts";
import { type Fields, identifier, readFields } from "../kit/fields.ts";
import { passOn } from "../kit/statefulset.ts";
import { keys } from "./keys.ts";

/** A redis block, defaults filled in. */
export interface RedisBlock {
  image: string;
  replicas: number;
  port: number;
  /** aof: every second; rdb: snapshots; none: memory only. */
  persistence: "aof" | "rdb" | "none";
  /** Beside `default`, each with its ACL rules. */
  users: { name: string; rules: string }[];
  /** redis.conf, as written. */
  settings: Record<string, string>;
  storage: string;
  backups: { keep: number; schedule: string; timezone: string; timeout: string };
  env: Record<string, string>;
  volumes: string[];
  ports: string[];
  dockerOptions: string[];
  passed: Record<string, unknown>;
}

/** Reads and checks the spec of a block; fails naming every field that is wrong. */
export function readRedis({ spec, config }: Pick<Block, "spec" | "config">): RedisBlock {
  const fields = readFields(spec);
  const port = fields.whole("port", 6379, { least: 1, most: 55_535 });
  const block: RedisBlock = {
    image: fields.text("image", "redis:7"),
    replicas: fields.whole("replicas", 1, { least: 1, most: 16 }),
    port,
    persistence: readPersistence(fields),
    users: fields.blocks("users").map(readUser),
    settings: fields.map("settings"),
    storage: fields.text("storage", "1Gi"),
    backups: readBackups(fields.block("backups")),
    env: fields.map("env"),
    volumes: fields.words("volumes"),
    ports: fields.raw("ports") === undefined ? [String(port)] : fields.words("ports"),
    dockerOptions: fields.words("docker_options"),
    passed: passOn(fields),
  };
  check(block, config, fields);
  fields.done();
  return block;
}

function readPersistence(fields: Fields): RedisBlock["persistence"] {
  const value = fields.text("persistence", "aof");
  if (value === "aof" || value === "rdb" || value === "none") return value;
  fields.problem("persistence", `"${value.slice(0, 40)}" is not one of aof, rdb, none`);
  return "aof";
}

/** One rule per word: a pattern of keys or channels, or commands. */
const rulesPattern = /^([~%&+@|*:\-\w.?[\]^]+)( [~%&+@|*:\-\w.?[\]^]+)*$/;

function readUser(user: Fields) {
  const rules = { pattern: rulesPattern, form: 'a list of ACL rules such as "~app:* +@all -@dangerous"' };
  return {
    name: user.name("name", identifier),
    rules: user.text("rules", "~* &* +@all -@admin -@dangerous", rules),
  };
}

function readBackups(fields: Fields | undefined): RedisBlock["backups"] {
  return {
    keep: fields?.whole("keep", 7, { least: 1, most: 1_000 }) ?? 7,
    schedule: fields?.text("schedule", "") ?? "",
    timezone: fields?.text("timezone", "UTC") ?? "UTC",
    timeout: fields?.text("timeout", "6h") ?? "6h",
  };
}

/** What the machinery sets. */
const ownSettings = [
  "port",
  "dir",
  "user",
  "requirepass",
  "masterauth",
  "masteruser",
  "replicaof",
  "slaveof",
  "aclfile",
  "include",
];
const moreOwn = [
  "bind",
  "appendonly",
  "save",
  "dbfilename",
  "daemonize",
  "rename-command",
  "unixsocket",
  "supervised",
  "pidfile",
  "logfile",
];

function check({ users, settings, replicas }: RedisBlock, config: Block["config"], fields: Fields): void {
  for (const [index, { name }] of users.entries()) {
    const first = users.findIndex((user) => user.name === name);
    if (name === "default") fields.problem(`users[${index}].name`, "default is there already; choose another name");
    if (first !== index) fields.problem(`users[${index}].name`, `"${name}" is there twice`);
  }
  for (const [key, value] of Object.entries(settings)) {
    if (!/^[a-z][a-z0-9-]*$/.test(key)) fields.problem(`settings.${key}`, "is not the name of a setting");
    else if ([...ownSettings, ...moreOwn].includes(key))
      fields.problem(`settings.${key}`, "is set by the plugin; leave it out");
    if (/[\n\r\0]/.test(value)) fields.problem(`settings.${key}`, "must be one line");
  }
  const primary = Number(config[keys.primary] ?? "0");
  if (primary >= replicas) {
    fields.problem(
      "replicas",
      `pod ${primary} is primary and ${replicas} would remove it; make a lower one primary first`,
    );
  }
}
