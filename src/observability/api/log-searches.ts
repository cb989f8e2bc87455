import { type Static, Type } from "@sinclair/typebox";
import { type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";

const optional = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }));

const Wanted = {
  q: optional(2_000, "words, phrases and fields, as in GET /logs/search"),
  app: optional(200, "SCOPE or SCOPE/NAME (default: every app)"),
  level: optional(20, "this level and above"),
  from: optional(20, "how long ago it begins: 15m, 1h, 24h (default: lines as they are written)"),
};

/** What to look for in the logs. */
export const LogSearchBody = Type.Object(Wanted, { additionalProperties: false });
export type LogSearchBody = Static<typeof LogSearchBody>;

export const LogSearch = Type.Object({
  name: Type.String(),
  ...Wanted,
  updated_at: Type.String(),
  updated_by: Type.String({ description: "pat:ID, or cli" }),
});
export type LogSearch = Static<typeof LogSearch>;

const searchesPath = "/logs/searches";

export const listSavedSearches = planeEndpoint({
  method: "GET",
  path: searchesPath,
  scope: "read",
  summary: "Log searches that were saved; all users of the installation share them",
  data: Type.Object({ searches: Type.Array(LogSearch) }),
});

export const saveSearch = planeEndpoint({
  method: "PUT",
  path: `${searchesPath}/:name`,
  scope: "actions",
  summary: "Saves a log search under a name, or replaces it",
  body: LogSearchBody,
  data: LogSearch,
});

export const deleteSavedSearch = planeEndpoint({
  method: "DELETE",
  path: `${searchesPath}/:name`,
  scope: "actions",
  summary: "Deletes a saved log search",
  data: LogSearch,
});

export const logSearchEndpoints: PlaneEndpoint[] = [listSavedSearches, saveSearch, deleteSavedSearch];
