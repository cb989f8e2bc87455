import type { UrlParts } from "../kit/cluster.ts";
import type { Link, Urls } from "../kit/links.ts";
import { passwordKey } from "./keys.ts";

/** URLs of a link: writes go to the primary of now, reads to whichever pod the name leads to. */
export function postgresUrls({ of, primary, config, env }: UrlParts, { user, database }: Link): Urls {
  const password = config[passwordKey(user, env.PG_USER ?? "")] ?? "";
  const url = (host: string) =>
    `postgres://${user}:${password}@${host}.${of.scope}:${env.PG_PORT ?? "5432"}/${database}`;
  return { write: url(`${of.name}-${primary}`), read: url(of.name) };
}
