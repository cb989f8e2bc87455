import { type Static, Type } from "@sinclair/typebox";
import { MapOf, Shape } from "../../../base/wire/shape.ts";

/** How many secrets a build can have. */
export const buildSecretsMax = 50;

export const Build = Shape(
  {
    context: Type.Optional(Type.String({ default: ".", description: "folder packed into the upload" })),
    dockerfile: Type.Optional(Type.String({ description: "relative to the context; found by itself when absent" })),
    path: Type.Optional(Type.String({ description: "sub-folder to build from" })),
    target: Type.Optional(Type.String({ description: "stage of the Dockerfile; default: the last one" })),
    id: Type.Optional(
      Type.String({ description: "the build whose image is used; `berth apply` builds and writes it" }),
    ),
    args: Type.Optional(MapOf(Type.String(), "build arguments")),
    secrets: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: buildSecretsMax,
        description: "keys of the app's config that build steps mount: RUN --mount=type=secret,id=KEY",
      }),
    ),
    lang: Type.Optional(
      Shape(
        {
          name: Type.Optional(
            Type.String({
              description: "node, bun, deno, python, ruby, php, go, rust, java, dotnet, elixir, hugo or static",
            }),
          ),
          version: Type.Optional(Type.String({ description: "version of the base image" })),
          entrypoint: Type.Optional(Type.String({ description: "file that starts the program" })),
        },
        "language; detected when absent",
      ),
    ),
  },
  "build from source; excludes image",
);
export type Build = Static<typeof Build>;
