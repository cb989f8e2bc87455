import type { Manifest } from "../../src/api/manifest.ts";
import type { Action } from "../../src/api/plugins/action.ts";
import type { Block } from "../kit/block.ts";
import { type ExpandContext, scriptMounts, scriptsAsset } from "../kit/scripts.ts";
import { type RedisBlock, readRedis } from "./block.ts";
import { firstUser, keys, passwordKey } from "./keys.ts";
import backupScript from "./backup.sh" with { type: "text" };
import libScript from "./lib.sh" with { type: "text" };
import serveScript from "./serve.sh" with { type: "text" };
import toolsScript from "./tools.sh" with { type: "text" };

/**
 * What a redis block becomes: the scripts, the statefulset, and a cron job where backups have a schedule. With a
 * complete config the same block always gives the same manifests and no action.
 */
export function expandRedis(block: Block, context: ExpandContext): { manifests: Manifest[]; actions: Action[] } {
  const redis = readRedis(block);
  const manifests = [scripts(block, redis), statefulset(block, redis, context)];
  if (redis.backups.schedule !== "") manifests.push(backupJob(block, redis, context));
  return { manifests, actions: missingConfig(block, redis, context) };
}

const files = ["lib.sh", "serve.sh", "tools.sh", "backup.sh", "settings.conf", "users.conf"] as const;

function scripts(block: Block, redis: RedisBlock): Manifest {
  const content: Record<(typeof files)[number], string> = {
    "lib.sh": libScript,
    "serve.sh": serveScript,
    "tools.sh": toolsScript,
    "backup.sh": backupScript,
    "settings.conf": settingsText(redis),
    "users.conf":
      redis.users.map(({ name: user, rules }) => `${user} ${passwordKey(user)} ${rules}\n`).join("") || "\n",
  };
  return scriptsAsset(block, content);
}

const persistence: Record<RedisBlock["persistence"], string[]> = {
  aof: ["appendonly yes", "appendfsync everysec"],
  rdb: ["appendonly no", "save 3600 1 300 100 60 10000"],
  none: ["appendonly no", 'save ""'],
};

/** A standby or a backup that asks for everything need not wait for others that might ask, too. */
const always = ["bind * -::*", "dbfilename dump.rdb", "repl-diskless-sync-delay 0"];

function settingsText({ settings, persistence: kept }: RedisBlock): string {
  const own = Object.entries(settings).map(([key, value]) => `${key} ${value}`);
  return `${[...always, ...persistence[kept], ...own].join("\n")}\n`;
}

function statefulset(block: Block, redis: RedisBlock, { envPrefix }: ExpandContext): Manifest {
  const { scope, name } = block;
  const ready = { command: ["sh", "/berth/tools.sh", "ready"] };
  return {
    kind: "statefulset",
    scope,
    name,
    spec: {
      // A server with much to write needs its time for a clean stop.
      rollout: { progress_deadline: "1h" },
      stop_grace: "1m",
      ...redis.passed,
      image: redis.image,
      replicas: redis.replicas,
      command: ["/berth/serve.sh"],
      docker_options: ["--entrypoint sh", ...redis.dockerOptions],
      stop_signal: "SIGTERM",
      env: { ...podEnv(block, redis, envPrefix), ...redis.env },
      ports: redis.ports,
      volume_claims: [{ name: "data", mount_path: "/data", size: redis.storage }],
      volumes: [...mounts(block, envPrefix), ...redis.volumes],
      probes: { readiness: { exec: ready, period: "2s", timeout: "10s", failure_threshold: 3 } },
    },
  };
}

function podEnv({ scope, name }: Block, { port }: RedisBlock, envPrefix: string): Record<string, string> {
  return { REDIS_NAME: name, REDIS_SCOPE: scope, REDIS_PORT: String(port), REDIS_ENV_PREFIX: envPrefix };
}

/** Scripts, and the one volume for backups that all pods share and no prune takes along. */
function mounts(block: Block, envPrefix: string): string[] {
  const backups = `${envPrefix.toLowerCase()}-${block.scope}-${block.name}-backups:/backups`;
  return [...scriptMounts(block, files), backups];
}

function backupJob(block: Block, redis: RedisBlock, { envPrefix }: ExpandContext): Manifest {
  const { scope, name } = block;
  const { schedule, timezone, timeout, keep } = redis.backups;
  return {
    kind: "cronjob",
    scope,
    name: `${name}.backup`,
    spec: {
      schedule,
      timezone,
      concurrency_policy: "Forbid",
      job: {
        image: redis.image,
        command: ["/berth/tools.sh", "job", String(keep)],
        docker_options: ["--entrypoint sh"],
        env_from: [`${scope}/${name}`],
        env: podEnv(block, redis, envPrefix),
        volumes: mounts(block, envPrefix),
        timeout,
      },
    },
  };
}

function missingConfig({ scope, name, config }: Block, redis: RedisBlock, context: ExpandContext): Action[] {
  const secrets = [firstUser, ...redis.users.map((user) => user.name)].map(passwordKey);
  const missing = secrets.filter((key) => (config[key] ?? "") === "").map((key) => [key, context.newPassword()]);
  const places = config[keys.primary] === undefined ? [[keys.primary, "0"]] : [];
  const epochs = config[keys.epoch] === undefined ? [[keys.epoch, "1"]] : [];
  // Not in the environment of a manifest: a change of it would replace the pods.
  const keep = String(redis.backups.keep);
  const kept = config[keys.keep] === keep ? [] : [[keys.keep, keep]];
  const kv: Record<string, string> = Object.fromEntries([...missing, ...places, ...epochs, ...kept]);
  if (Object.keys(kv).length === 0) return [];
  const summary = `config of ${scope}/${name}: ${Object.keys(kv).join(", ")}`;
  return [{ type: "config_set", scope, name, kv, skip_restart: true, summary }];
}
