import type { ServerKind } from "../kit/server.ts";
import { keys } from "./keys.ts";
import { redisUrls } from "./urls.ts";

export const redisKind: ServerKind = {
  what: "redis",
  primaryKey: keys.primary,
  epochKey: keys.epoch,
  noteKey: keys.promotion,
  promote: "failover",
  linksKey: keys.links,
  keepKey: keys.keep,
  exposeKey: keys.expose,
  holds: "KEYS",
  script: "/berth/tools.sh",
  mark: "REDIS_ENV_PREFIX",
  urls: redisUrls,
};
