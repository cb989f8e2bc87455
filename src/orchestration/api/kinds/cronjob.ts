import { type Static, Type } from "@sinclair/typebox";
import { cronjobDefaults } from "./defaults.ts";
import { historyFields, JobSpec } from "./job.ts";
import { Duration, OneOf, Shape } from "../../../base/wire/shape.ts";

export const CronjobSpec = Shape(
  {
    schedule: Type.String({ description: "minute hour day month weekday, or @hourly @daily @weekly @monthly @yearly" }),
    timezone: Type.Optional(Type.String({ default: cronjobDefaults.timezone, description: "IANA name" })),
    suspend: Type.Optional(
      Type.Boolean({ default: false, description: "true: the clock does not start runs; `berth cron run` does" }),
    ),
    concurrency_policy: Type.Optional(
      OneOf(
        ["Allow", "Forbid", "Replace"],
        "when a run is due while another is under way: both run, the new one is skipped, or the old one is ended",
        cronjobDefaults.policy,
      ),
    ),
    starting_deadline: Type.Optional(
      Duration(
        "how late a run may start, for example after a downtime; later ones are recorded as missed",
        cronjobDefaults.startingDeadline,
      ),
    ),
    ...historyFields,
    job: JobSpec,
  },
  "a job started by the clock",
);
export type CronjobSpec = Static<typeof CronjobSpec>;
