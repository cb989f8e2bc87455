import type { Block } from "../kit/block.ts";
import { type ExpandContext, expandServer, type ServerPods } from "../kit/expand.ts";
import { type PostgresBlock, readPostgres } from "./block.ts";
import { keys, passwordKey } from "./keys.ts";
import { postgresUrls } from "./urls.ts";
import backupScript from "./backup.sh" with { type: "text" };
import factsScript from "./facts.sh" with { type: "text" };
import libScript from "./lib.sh" with { type: "text" };
import restoreScript from "./restore.sh" with { type: "text" };
import serveScript from "./serve.sh" with { type: "text" };
import toolsScript from "./tools.sh" with { type: "text" };
import walScript from "./wal.sh" with { type: "text" };

/** What a postgres block becomes. */
export function expandPostgres(block: Block, context: ExpandContext) {
  const postgres = readPostgres(block);
  return expandServer({ block, server: postgres, pods: podsOf(block, postgres, context) }, context);
}

function podsOf({ scope, name }: Block, postgres: PostgresBlock, { envPrefix }: ExpandContext): ServerPods {
  return {
    scripts: {
      "lib.sh": libScript,
      "serve.sh": serveScript,
      "restore.sh": restoreScript,
      "tools.sh": toolsScript,
      "backup.sh": backupScript,
      "facts.sh": factsScript,
      "wal.sh": walScript,
      "settings.conf": settingsText(postgres),
      "ensure.conf": ensureText(postgres),
    },
    env: {
      PGDATA: "/var/lib/postgresql/data/pgdata",
      PG_NAME: name,
      PG_SCOPE: scope,
      PG_PORT: String(postgres.port),
      PG_USER: postgres.user,
      PG_DATABASE: postgres.database,
      PG_ENCODING: postgres.encoding,
      PG_LOCALE: postgres.locale,
      PG_ENV_PREFIX: envPrefix,
      ...(postgres.pointInTime && { PG_BASE_SECONDS: String(postgres.pointInTime.everyMs / 1000) }),
    },
    dataFolder: "/var/lib/postgresql/data",
    stopGrace: "2m",
    dockerOptions: ["--shm-size 256m"],
    passwordKeys: [
      keys.maintenance,
      ...[postgres.user, ...postgres.users].map((user) => passwordKey(user, postgres.user)),
    ],
    links: postgres.links,
    urls: postgresUrls,
    keys,
  };
}

/** Standbys that were away catch up from what the primary keeps; the slots that would keep more have no bound. */
const defaultSettings = { wal_keep_size: "512MB" };

function settingsText(postgres: PostgresBlock): string {
  const lines = Object.entries({
    ...defaultSettings,
    ...waiting(postgres),
    ...archiving(postgres),
    ...postgres.settings,
  }).map(([key, value]) => {
    return `${key} = '${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  });
  return `${lines.join("\n")}\n`;
}

/** A write is acknowledged when one standby has it on disk; a copy that is being made is none of them. */
function waiting({ failover, replicas }: PostgresBlock): Record<string, string> {
  if (failover?.synchronous !== true) return {};
  const pods = Array.from({ length: replicas }, (_, ordinal) => `"pod-${ordinal}"`).join(", ");
  return { synchronous_standby_names: `ANY 1 (${pods})` };
}

/** A standby archives as well, where its primary could not: what the primary had not archived when it died is not lost. */
function archiving({ pointInTime }: PostgresBlock): Record<string, string> {
  if (pointInTime === undefined) return {};
  return { archive_mode: "always", archive_command: "sh /berth/wal.sh archive %p %f" };
}

/** One line each: what a primary makes where it is missing. */
function ensureText({ user, users, database, databases, extensions }: PostgresBlock): string {
  const all = [{ name: database, owner: user, extensions }, ...databases];
  const lines = [
    ...[user, ...users].map((name) => `user ${name} ${passwordKey(name, user)}`),
    ...all.map((each) => `database ${each.name} ${each.owner}`),
    ...all.flatMap((each) => each.extensions.map((extension) => `extension ${each.name} ${extension}`)),
  ];
  return `${lines.join("\n")}\n`;
}
