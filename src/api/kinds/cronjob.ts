import { type Static, Type } from "@sinclair/typebox";
import { historyFields, JobSpec } from "./job.ts";
import { OneOf, Shape } from "./shape.ts";

export const CronjobSpec = Shape(
  {
    schedule: Type.String({ description: "minute hour day month weekday, or @hourly @daily @weekly @monthly @yearly" }),
    timezone: Type.Optional(Type.String({ default: "UTC", description: "IANA name" })),
    suspend: Type.Optional(Type.Boolean({ default: false, description: "true: the clock does not start runs" })),
    concurrency_policy: Type.Optional(
      OneOf(["Allow", "Forbid"], "whether a run may start while another is under way", "Allow"),
    ),
    ...historyFields,
    job: JobSpec,
  },
  "a job started by the clock",
);
export type CronjobSpec = Static<typeof CronjobSpec>;
