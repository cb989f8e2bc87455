import type { ServerKind } from "../kit/server.ts";
import { firstUser, keys, passwordKey } from "./keys.ts";

/** URLs of a link: writes go to the primary of now, reads to whichever pod the name leads to. */
export const redisKind: ServerKind = {
  what: "redis",
  primaryKey: keys.primary,
  epochKey: keys.epoch,
  noteKey: keys.promotion,
  promote: "failover",
  linksKey: keys.links,
  keepKey: keys.keep,
  holds: "KEYS",
  script: "/berth/tools.sh",
  mark: "REDIS_ENV_PREFIX",
  urls({ of, primary, config, env }, { user, database }) {
    const password = config[passwordKey(user === "" ? firstUser : user)] ?? "";
    const url = (host: string) =>
      `redis://${user}:${password}@${host}.${of.scope}:${env.REDIS_PORT ?? "6379"}/${database}`;
    return { write: url(`${of.name}-${primary}`), read: url(of.name) };
  },
};
