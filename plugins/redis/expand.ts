import type { Block } from "../kit/block.ts";
import { type ExpandContext, expandServer, type ServerPods } from "../kit/expand.ts";
import { type RedisBlock, readRedis } from "./block.ts";
import { firstUser, keys, passwordKey } from "./keys.ts";
import { redisUrls } from "./urls.ts";
import backupScript from "./backup.sh" with { type: "text" };
import libScript from "./lib.sh" with { type: "text" };
import serveScript from "./serve.sh" with { type: "text" };
import toolsScript from "./tools.sh" with { type: "text" };

/** What a redis block becomes. */
export function expandRedis(block: Block, context: ExpandContext) {
  const redis = readRedis(block);
  return expandServer({ block, server: redis, pods: podsOf(block, redis, context) }, context);
}

function podsOf({ scope, name }: Block, redis: RedisBlock, { envPrefix }: ExpandContext): ServerPods {
  return {
    scripts: {
      "lib.sh": libScript,
      "serve.sh": serveScript,
      "tools.sh": toolsScript,
      "backup.sh": backupScript,
      "settings.conf": settingsText(redis),
      "users.conf": usersText(redis),
    },
    env: { REDIS_NAME: name, REDIS_SCOPE: scope, REDIS_PORT: String(redis.port), REDIS_ENV_PREFIX: envPrefix },
    dataFolder: "/data",
    stopGrace: "1m",
    dockerOptions: [],
    passwordKeys: [firstUser, ...redis.users.map((user) => user.name)].map(passwordKey),
    links: redis.links,
    urls: redisUrls,
    keys,
  };
}

/** One line each; a file is never empty. */
function usersText({ users }: RedisBlock): string {
  return users.map(({ name, rules }) => `${name} ${passwordKey(name)} ${rules}\n`).join("") || "\n";
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
