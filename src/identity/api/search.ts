import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { Paging } from "./paging.ts";
import { SessionResource, UserResource } from "./resources.ts";

/** Tokens of a query that meant nothing, percent-encoded, with spaces between them. */
export const ignoredHeader = "X-Search-Ignored";

const SearchQuery = Type.Object({
  query: Text("space-separated tokens: field:value, field:*value*, field>value, -field:value"),
  email: Text("the address contains this, whatever the case"),
  strict: Flag("a token that means nothing is a 400 instead of being ignored"),
  ...Paging,
});

export const searchUsers = endpoint({
  method: "GET",
  path: "/api/v1/users/search",
  summary: "Users that a query finds, newest first",
  query: SearchQuery,
  data: Type.Array(UserResource),
  flat: true,
});

export const searchSessions = endpoint({
  method: "GET",
  path: "/api/v1/sessions/search",
  summary: "Sessions that a query finds, newest first",
  query: SearchQuery,
  data: Type.Array(SessionResource),
  flat: true,
});
