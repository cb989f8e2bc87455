import { type Static, Type } from "@sinclair/typebox";
import { Shape } from "../../../base/wire/shape.ts";

export const RegistrySpec = Shape(
  {
    url: Type.String({ description: "host[:port] of the registry" }),
    username: Type.Optional(Type.String({ description: "login" })),
    token: Type.Optional(Type.String({ description: "password or token; kept secret" })),
    password: Type.Optional(Type.String({ description: "other name of token" })),
    helper: Type.Optional(Type.String({ description: "credential helper; excludes username and token" })),
  },
  "login of an image registry, for the whole installation",
);
export type RegistrySpec = Static<typeof RegistrySpec>;
