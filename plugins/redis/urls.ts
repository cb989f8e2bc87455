import type { UrlParts } from "../kit/cluster.ts";
import type { Link, Urls } from "../kit/links.ts";
import { firstUser, passwordKey } from "./keys.ts";

/** URLs of a link: writes go to the primary of now, reads to whichever pod the name leads to. */
export function redisUrls({ of, primary, config, env }: UrlParts, { user, database }: Link): Urls {
  const password = config[passwordKey(user === "" ? firstUser : user)] ?? "";
  const url = (host: string) =>
    `redis://${user}:${password}@${host}.${of.scope}:${env.REDIS_PORT ?? "6379"}/${database}`;
  return { write: url(`${of.name}-${primary}`), read: url(of.name) };
}
