import { type Static, Type } from "@sinclair/typebox";
import { containerFields } from "./container.ts";
import { jobDefaults } from "./defaults.ts";
import { Count, Duration, MapOf, Shape } from "../../../base/wire/shape.ts";

export const historyFields = {
  successful_history_limit: Type.Optional(
    Count("succeeded runs kept in the history", { minimum: 0, maximum: 10_000, default: jobDefaults.succeededKept }),
  ),
  failed_history_limit: Type.Optional(
    Count("failed runs kept in the history", { minimum: 0, maximum: 10_000, default: jobDefaults.failedKept }),
  ),
};

export const JobSpec = Shape(
  {
    ...containerFields,
    ...historyFields,
    timeout: Type.Optional(Duration("a run that takes longer is ended; default: no limit")),
    backoff_limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        default: jobDefaults.retries,
        description: "further tries after a failed one",
      }),
    ),
    labels: Type.Optional(MapOf(Type.String(), "further container labels")),
  },
  "a container that runs once when asked",
);
export type JobSpec = Static<typeof JobSpec>;
