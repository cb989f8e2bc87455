import { type Static, Type } from "@sinclair/typebox";
import { Shape } from "../../../base/wire/shape.ts";

export const VolumeClaim = Shape({
  name: Type.String({ description: "unique in the list; part of the volume's name" }),
  mount_path: Type.String({ description: "absolute path inside the container" }),
  size: Type.Optional(Type.String({ description: "expected size; for people, not enforced" })),
});
export type VolumeClaim = Static<typeof VolumeClaim>;
