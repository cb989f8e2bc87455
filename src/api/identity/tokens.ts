import { Type } from "@sinclair/typebox";
import { endpoint } from "../endpoint.ts";
import { TokenResource } from "./resources.ts";

export const verifyToken = endpoint({
  method: "POST",
  path: "/api/v1/tokens/verify",
  summary: "Whether a token is one of this instance, whose it is, and whether its session still stands",
  body: Type.Object({ token: Type.String({ description: "JWT" }) }),
  data: TokenResource,
  flat: true,
});
