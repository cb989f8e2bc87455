import { type Static, Type } from "@sinclair/typebox";
import { containerDefaults } from "./defaults.ts";
import { Count, Shape } from "../../../base/wire/shape.ts";

export const Logs = Shape(
  {
    max_size: Type.Optional(
      Type.String({
        default: containerDefaults.logSize,
        description: "size of one log file: a number with k, m or g, at most 100g",
      }),
    ),
    max_files: Type.Optional(
      Count("log files kept", { minimum: 1, maximum: 100, default: containerDefaults.logFiles }),
    ),
  },
  "log rotation of the container",
);
export type Logs = Static<typeof Logs>;
