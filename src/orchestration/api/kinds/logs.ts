import { type Static, Type } from "@sinclair/typebox";
import { containerDefaults } from "./defaults.ts";
import { Shape } from "../../../base/wire/shape.ts";

export const Logs = Shape(
  {
    max_size: Type.Optional(
      Type.String({ default: containerDefaults.logSize, description: "size of one log file: a number with k, m or g" }),
    ),
    max_files: Type.Optional(
      Type.Integer({ minimum: 1, default: containerDefaults.logFiles, description: "log files kept" }),
    ),
  },
  "log rotation of the container",
);
export type Logs = Static<typeof Logs>;
