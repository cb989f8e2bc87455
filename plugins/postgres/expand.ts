import type { Manifest } from "../../src/api/manifest.ts";
import type { Action } from "../../src/api/plugins/action.ts";
import type { Block } from "../kit/block.ts";
import { type ExpandContext, scriptMounts, scriptsAsset } from "../kit/scripts.ts";
import { type PostgresBlock, readPostgres } from "./block.ts";
import { keys, passwordKey } from "./keys.ts";
import backupScript from "./backup.sh" with { type: "text" };
import libScript from "./lib.sh" with { type: "text" };
import serveScript from "./serve.sh" with { type: "text" };
import toolsScript from "./tools.sh" with { type: "text" };

/**
 * What a postgres block becomes: the scripts, the statefulset, and a cron job where backups have a schedule. Passwords
 * that the config does not have yet are made once, by actions; with a complete config the same block always gives the
 * same manifests and no action.
 */
export function expandPostgres(block: Block, context: ExpandContext): { manifests: Manifest[]; actions: Action[] } {
  const postgres = readPostgres(block);
  const manifests = [scripts(block, postgres), statefulset(block, postgres, context)];
  if (postgres.backups.schedule !== "") manifests.push(backupJob(block, postgres, context));
  return { manifests, actions: missingConfig(block, postgres, context) };
}

const files = ["lib.sh", "serve.sh", "tools.sh", "backup.sh", "settings.conf", "ensure.conf"] as const;

function scripts(block: Block, postgres: PostgresBlock): Manifest {
  const content: Record<(typeof files)[number], string> = {
    "lib.sh": libScript,
    "serve.sh": serveScript,
    "tools.sh": toolsScript,
    "backup.sh": backupScript,
    "settings.conf": settingsText(postgres),
    "ensure.conf": ensureText(postgres),
  };
  return scriptsAsset(block, content);
}

/** Standbys that were away catch up from what the primary keeps; the slots that would keep more have no bound. */
const defaultSettings = { wal_keep_size: "512MB" };

function settingsText({ settings }: PostgresBlock): string {
  const lines = Object.entries({ ...defaultSettings, ...settings }).map(([key, value]) => {
    return `${key} = '${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  });
  return `${lines.join("\n")}\n`;
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

function statefulset(block: Block, postgres: PostgresBlock, { envPrefix }: ExpandContext): Manifest {
  const { scope, name } = block;
  const ready = { command: ["sh", "/berth/tools.sh", "ready"] };
  return {
    kind: "statefulset",
    scope,
    name,
    spec: {
      // A copy of a large database takes its time, and so does a clean stop.
      rollout: { progress_deadline: "1h" },
      stop_grace: "2m",
      ...postgres.passed,
      image: postgres.image,
      replicas: postgres.replicas,
      command: ["/berth/serve.sh"],
      docker_options: ["--entrypoint sh", "--shm-size 256m", ...postgres.dockerOptions],
      stop_signal: "SIGTERM",
      env: { ...podEnv(block, postgres, envPrefix), ...postgres.env },
      ports: postgres.ports,
      volume_claims: [{ name: "data", mount_path: "/var/lib/postgresql/data", size: postgres.storage }],
      volumes: [...mounts(block, envPrefix), ...postgres.volumes],
      probes: { readiness: { exec: ready, period: "2s", timeout: "10s", failure_threshold: 3 } },
    },
  };
}

function podEnv({ scope, name }: Block, postgres: PostgresBlock, envPrefix: string): Record<string, string> {
  return {
    PGDATA: "/var/lib/postgresql/data/pgdata",
    PG_NAME: name,
    PG_SCOPE: scope,
    PG_PORT: String(postgres.port),
    PG_USER: postgres.user,
    PG_DATABASE: postgres.database,
    PG_ENCODING: postgres.encoding,
    PG_LOCALE: postgres.locale,
    PG_ENV_PREFIX: envPrefix,
  };
}

/** Scripts, and the one volume for backups that all pods share and no prune takes along. */
function mounts(block: Block, envPrefix: string): string[] {
  const prefix = envPrefix.toLowerCase();
  return [...scriptMounts(block, files), `${prefix}-${block.scope}-${block.name}-backups:/backups`];
}

function backupJob(block: Block, postgres: PostgresBlock, { envPrefix }: ExpandContext): Manifest {
  const { scope, name } = block;
  const { schedule, timezone, timeout, keep } = postgres.backups;
  return {
    kind: "cronjob",
    scope,
    name: `${name}.backup`,
    spec: {
      schedule,
      timezone,
      concurrency_policy: "Forbid",
      job: {
        image: postgres.image,
        command: ["/berth/tools.sh", "job", String(keep)],
        docker_options: ["--entrypoint sh"],
        env_from: [`${scope}/${name}`],
        env: podEnv(block, postgres, envPrefix),
        volumes: mounts(block, envPrefix),
        timeout,
      },
    },
  };
}

function missingConfig({ scope, name, config }: Block, postgres: PostgresBlock, context: ExpandContext): Action[] {
  const secrets = [
    keys.maintenance,
    ...[postgres.user, ...postgres.users].map((user) => passwordKey(user, postgres.user)),
  ];
  const missing = secrets.filter((key) => (config[key] ?? "") === "").map((key) => [key, context.newPassword()]);
  const places = config[keys.primary] === undefined ? [[keys.primary, "0"]] : [];
  const epochs = config[keys.epoch] === undefined ? [[keys.epoch, "1"]] : [];
  // Not in the environment of a manifest: a change of it would replace the pods.
  const keep = String(postgres.backups.keep);
  const kept = config[keys.keep] === keep ? [] : [[keys.keep, keep]];
  const kv: Record<string, string> = Object.fromEntries([...missing, ...places, ...epochs, ...kept]);
  if (Object.keys(kv).length === 0) return [];
  const summary = `config of ${scope}/${name}: ${Object.keys(kv).join(", ")}`;
  return [{ type: "config_set", scope, name, kv, skip_restart: true, summary }];
}
