import type { ServerKind } from "../kit/server.ts";
import { keys, passwordKey } from "./keys.ts";

/** URLs of a link: writes go to the primary of now, reads to whichever pod the name leads to. */
export const postgresKind: ServerKind = {
  what: "postgres",
  primaryKey: keys.primary,
  epochKey: keys.epoch,
  noteKey: keys.promotion,
  promote: "promote",
  linksKey: keys.links,
  keepKey: keys.keep,
  holds: "DATABASES",
  script: "/berth/tools.sh",
  mark: "PG_DATABASE",
  apartAfterMs: 20_000,
  urls({ of, primary, config, env }, { user, database }) {
    const password = config[passwordKey(user, env.PG_USER ?? "")] ?? "";
    const url = (host: string) =>
      `postgres://${user}:${password}@${host}.${of.scope}:${env.PG_PORT ?? "5432"}/${database}`;
    return { write: url(`${of.name}-${primary}`), read: url(of.name) };
  },
};
