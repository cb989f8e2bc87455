import { type Static, Type } from "@sinclair/typebox";
import { ListOf, Shape, Words } from "../../base/wire/shape.ts";
import { Flag } from "../../base/wire/query.ts";
import { endpoint, scopes } from "../../base/wire/endpoint.ts";
import { aliasOf, type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";

/** What is known of a token. Never the token itself, nor its hash. */
export const Pat = Type.Object({
  id: Type.String({ description: "its first six characters after pat_: public" }),
  scopes: Type.Array(Type.String()),
  name: Type.Optional(Type.String()),
  apps: Type.Array(Type.String(), { description: "globs of the apps that it may see; empty: every app" }),
  cidr: Type.Array(Type.String(), { description: "networks that it may be used from; empty: any" }),
  created_at: Type.String(),
  created_by: Type.String(),
  expires_at: Type.Optional(Type.String()),
  last_used_at: Type.Optional(Type.String({ description: "exact to a minute" })),
  last_used_ip: Type.Optional(Type.String()),
  last_used_agent: Type.Optional(Type.String()),
  revoked_at: Type.Optional(Type.String()),
});
export type Pat = Static<typeof Pat>;

const Created = Type.Object({
  token: Type.String({ description: "the token itself: in this answer and never again" }),
  record: Pat,
});

const scopeWords = scopes.join(", ");

export const createPat = endpoint({
  method: "POST",
  path: "/pats",
  summary: "Makes a personal access token for the observability plane; 201, and the token is in this answer alone",
  body: Shape({
    scopes: ListOf(Type.String(), `what it may do: ${scopeWords}`),
    name: Type.Optional(Type.String({ description: "what it is for" })),
    expires: Type.Optional(
      Type.String({ description: "how long it is good, such as 90d or 12h, a time in RFC 3339, or never" }),
    ),
    apps: Type.Optional(Words("globs of the apps that it may see: scope or scope/name")),
    cidr: Type.Optional(Words("addresses and networks that it may be used from, such as 192.0.2.0/24")),
  }),
  data: Created,
  alsoAnswers: { 201: "made" },
});

export const listPats = planeEndpoint({
  method: "GET",
  path: "/pats",
  scope: "admin",
  summary: "Personal access tokens, newest first, without their values",
  query: Type.Object({ all: Flag("with those that were revoked or have expired") }),
  data: Type.Object({ pats: Type.Array(Pat) }),
});

export const getPat = endpoint({
  method: "GET",
  path: "/pats/:id",
  summary: "One personal access token, also one that has ended",
  data: Type.Object({ pat: Pat }),
});

export const rotatePat = endpoint({
  method: "POST",
  path: "/pats/:id/rotate",
  summary: "Makes a token like another, which ends after a grace time; 201",
  body: Shape({
    grace: Type.Optional(
      Type.String({ description: "how long the old one stays good; 0 ends it at once", default: "15m" }),
    ),
  }),
  data: Created,
  alsoAnswers: { 201: "made" },
});

export const revokePat = planeEndpoint({
  method: "DELETE",
  path: "/pats/:id",
  scope: "admin",
  summary: "Ends a personal access token at once, and cuts its streams",
  data: Type.Object({ id: Type.String(), revoked_at: Type.String() }),
});

/** On the orchestration plane. */
export const patEndpoints = [createPat, listPats, getPat, rotatePat, revokePat];

/** There is no way to make a token with a token: one that leaks cannot outlive its end. */
export const planePatEndpoints: PlaneEndpoint[] = [aliasOf(listPats, { query: undefined }), revokePat];
