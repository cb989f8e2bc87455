import type { Static } from "@sinclair/typebox";
import { AssetFile } from "./asset-file.ts";
import { MapOf, Shape } from "../../../base/wire/shape.ts";

export const AssetSpec = Shape(
  { files: MapOf(AssetFile, "content per key: text, embedded file or address") },
  "files that other resources mount or read",
);
export type AssetSpec = Static<typeof AssetSpec>;
