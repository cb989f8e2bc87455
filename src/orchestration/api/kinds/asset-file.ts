import { type Static, Type } from "@sinclair/typebox";
import { fetchDefaults } from "./defaults.ts";
import { Duration, OneOf, Shape } from "../../../base/wire/shape.ts";

export const EmbeddedFile = Shape(
  {
    _source: Type.Literal("file"),
    content: Type.String({ description: "base64" }),
    filename: Type.Optional(Type.String({ description: "where the content came from; for people" })),
  },
  "content embedded by the client",
);

export const FetchedFile = Shape(
  {
    _source: Type.Literal("url"),
    url: Type.String({ description: "http or https address, fetched by the server" }),
    timeout: Type.Optional(Duration("limit of the fetch", fetchDefaults.timeout)),
    on_failure: Type.Optional(
      OneOf(["stale", "error", "skip"], "keep the last content, fail, or leave the key out", fetchDefaults.onFailure),
    ),
  },
  "content fetched by the server",
);

/** Inline text, embedded base64 content, or an address. */
export const AssetFile = Type.Union([Type.String(), EmbeddedFile, FetchedFile]);
export type AssetFile = Static<typeof AssetFile>;
