import { type Static, Type } from "@sinclair/typebox";
import { initDefaults } from "./defaults.ts";
import { Resources } from "./resources.ts";
import { Duration, MapOf, Shape, Words } from "../../../base/wire/shape.ts";

export const Init = Shape({
  name: Type.String({ description: "unique in the list" }),
  image: Type.Optional(Type.String({ description: "default: the image of the main container" })),
  command: Words("argument vector"),
  timeout: Type.Optional(Duration("limit of one try", initDefaults.timeout)),
  retries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 5, default: initDefaults.retries, description: "further tries" }),
  ),
  resources: Type.Optional(Resources),
  ulimits: Type.Optional(MapOf(Type.String(), "soft[:hard] per limit")),
  docker_options: Type.Optional(Words("replaces the list of the main container")),
});
export type Init = Static<typeof Init>;
