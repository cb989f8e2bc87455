import { type Static, Type } from "@sinclair/typebox";
import { AssetFile } from "./asset-file.ts";
import { MapOf, Shape } from "../../../base/wire/shape.ts";

export const AssetSpec = Shape(
  {
    files: MapOf(AssetFile, "content per key: text, embedded file or address"),
    modes: Type.Optional(MapOf(Type.String(), 'permissions per key: "0755" for a program. A key without one has 0644')),
  },
  "files that other resources mount or read",
);
export type AssetSpec = Static<typeof AssetSpec>;
