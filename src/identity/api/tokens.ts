import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { TokenResource } from "./resources.ts";

export const verifyToken = endpoint({
  method: "POST",
  path: "/api/v1/tokens/verify",
  summary: "Whether a token is one of this instance, whose it is, and whether its session still stands",
  body: Type.Object({ token: Type.String({ description: "JWT" }) }),
  data: TokenResource,
  flat: true,
});

export const redeemToken = endpoint({
  method: "POST",
  path: "/api/v1/tokens/redeem",
  summary: "The token that a code stands for, once and within a minute; for instances with delivery by code",
  body: Type.Object({ code: Type.String({ description: "as it came to redirect_uri" }) }),
  data: Type.Object({ token: Type.String({ description: "JWT" }) }),
  flat: true,
});
