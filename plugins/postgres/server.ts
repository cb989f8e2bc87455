import type { ServerKind } from "../kit/server.ts";
import { keys } from "./keys.ts";
import { postgresUrls } from "./urls.ts";

export const postgresKind: ServerKind = {
  what: "postgres",
  primaryKey: keys.primary,
  epochKey: keys.epoch,
  noteKey: keys.promotion,
  promote: "promote",
  linksKey: keys.links,
  keepKey: keys.keep,
  exposeKey: keys.expose,
  holds: "DATABASES",
  script: "/berth/tools.sh",
  mark: "PG_DATABASE",
  apartAfterMs: 20_000,
  urls: postgresUrls,
};
