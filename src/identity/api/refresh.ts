import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";

const TokenPair = Type.Object({
  access_token: Type.String({ description: "JWT" }),
  refresh_token: Type.String({ description: "spent by a refresh, which returns the next one" }),
  token_type: Type.String({ description: "always Bearer" }),
  expires_in: Type.Integer({ description: "seconds until the access token expires" }),
  session_id: Type.String(),
});

const RefreshToken = Type.Object({ refresh_token: Type.String() });

export const exchangeSession = endpoint({
  method: "POST",
  path: "/api/v1/sessions/exchange",
  summary:
    "Tokens for the token that a browser was sent back with, within 30 s of the first time; with the publishable key",
  body: Type.Object({ token: Type.String({ description: "the sign-in token" }) }),
  data: TokenPair,
  flat: true,
});

export const refreshSession = endpoint({
  method: "POST",
  path: "/api/v1/sessions/refresh",
  summary:
    "The newest pair of tokens; a refresh token that returns more than 30 s after its first use ends its session",
  body: RefreshToken,
  data: TokenPair,
  flat: true,
});

export const revokeRefresh = endpoint({
  method: "POST",
  path: "/api/v1/sessions/revoke",
  summary: "End the session of a refresh token; 204 also where there is none",
  body: RefreshToken,
  alsoAnswers: { 204: "always, without a body" },
  flat: true,
});
