import { Type } from "@sinclair/typebox";
import { planeEndpoint } from "./plane-endpoint.ts";

export const whoami = planeEndpoint({
  method: "GET",
  path: "/whoami",
  scope: "any",
  summary: "What the token of this request may do",
  data: Type.Object({
    id: Type.String(),
    name: Type.Optional(Type.String()),
    scopes: Type.Array(Type.String()),
    apps: Type.Array(Type.String(), { description: "globs of the apps that it may see; empty: every app" }),
    person: Type.Optional(Type.String({ description: "address of the person behind a session of the web UI" })),
    expires_at: Type.Optional(Type.String()),
  }),
});
