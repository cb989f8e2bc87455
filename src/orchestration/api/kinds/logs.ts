import { type Static, Type } from "@sinclair/typebox";
import { Shape } from "../../../base/wire/shape.ts";

export const Logs = Shape(
  {
    max_size: Type.Optional(
      Type.String({ default: "10m", description: "size of one log file: a number with k, m or g" }),
    ),
    max_files: Type.Optional(Type.Integer({ minimum: 1, default: 3, description: "log files kept" })),
  },
  "log rotation of the container",
);
export type Logs = Static<typeof Logs>;
