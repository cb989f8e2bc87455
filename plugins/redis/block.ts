import type { Block } from "../kit/block.ts";
import { readDeclaredLinks } from "../kit/declared-links.ts";
import { type Fields, identifier, readFields } from "../kit/fields.ts";
import { checkExposed, checkPrimary, checkSettings, readServerBlock, type ServerBlock } from "../kit/server-block.ts";
import { firstUser, keys } from "./keys.ts";

/** A redis block, defaults filled in. */
export interface RedisBlock extends ServerBlock {
  /** aof: every second; rdb: snapshots; none: memory only. */
  persistence: "aof" | "rdb" | "none";
  /** Beside `default`, each with its ACL rules. */
  users: { name: string; rules: string }[];
}

/** A restore listens 10,000 higher for a while. */
const defaults = { image: "redis:7", port: 6379, portMost: 55_535, storage: "1Gi", canWait: false };

/** Reads and checks the spec of a block; fails naming every field that is wrong. */
export function readRedis({ scope, spec, config }: Pick<Block, "scope" | "spec" | "config">): RedisBlock {
  const fields = readFields(spec);
  const block: RedisBlock = {
    ...readServerBlock(fields, defaults),
    persistence: readPersistence(fields),
    users: fields.blocks("users").map(readUser),
  };
  const users = [firstUser, ...block.users.map(({ name }) => name)];
  block.links = readDeclaredLinks(fields, { scope, key: "REDIS_URL", database: "0", user: firstUser, users });
  checkUsers(block, fields);
  if (block.failover !== undefined && block.persistence === "none") {
    fields.problem("failover", "needs persistence: a primary that starts again empty would empty its standbys");
  }
  checkSettings(block.settings, { name: /^[a-z][a-z0-9-]*$/, own: ownSettings }, fields);
  checkExposed(block, config[keys.expose], fields);
  checkPrimary(block.replicas, config[keys.primary], fields);
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

function checkUsers({ users }: RedisBlock, fields: Fields): void {
  for (const [index, { name }] of users.entries()) {
    const first = users.findIndex((user) => user.name === name);
    if (name === "default") fields.problem(`users[${index}].name`, "default is there already; choose another name");
    if (first !== index) fields.problem(`users[${index}].name`, `"${name}" is there twice`);
  }
}
