import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { RunReason } from "./reasons.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { oneByName } from "./target.ts";

const statuses = [
  "scheduled",
  "running",
  "succeeded",
  "failed",
  "timed_out",
  "cancelled",
  "missed",
  "skipped",
] as const;

/** One run of a job or cron job. A run with further tries stays one record: `attempt` counts them. */
export const JobRun = Type.Object({
  run_id: Type.String(),
  kind: Type.String({ description: "job or cronjob" }),
  scope: Type.String(),
  name: Type.String(),
  container: Type.String({ description: "name of the container of the present try; removed when it has ended" }),
  status: Type.Union(
    statuses.map((status) => Type.Literal(status)),
    {
      description:
        "scheduled: about to start, or between two tries; missed and skipped: never started, `error` says why",
    },
  ),
  trigger: Type.String({ description: "manual, schedule or action" }),
  attempt: Type.Integer({ description: "1 for the first try" }),
  instant: Type.Optional(Type.String({ description: "the moment of the schedule that this run is for" })),
  started_at: Type.Optional(Type.String()),
  ended_at: Type.Optional(Type.String()),
  exit_code: Type.Optional(Type.Integer({ description: "of the last try; -1 when its process never ended by itself" })),
  error: Type.Optional(Type.String()),
  reason: Type.Optional(RunReason),
  tail: Type.Array(Type.String(), { description: "last lines of the output of the last try" }),
});
export type JobRun = Static<typeof JobRun>;

const wait = Flag("answer when the run has ended (default true)");
const begun = { 202: "Begun and not waited for" };

export const runJob = endpoint({
  method: "POST",
  path: "/jobs/run",
  scope: "actions",
  once: true,
  summary: "Runs a job once; 200 with the record whatever the exit code. The run goes on when the client leaves",
  query: Type.Object({
    ...oneByName,
    wait,
  }),
  data: JobRun,
  alsoAnswers: begun,
});

export const runCronjob = endpoint({
  method: "POST",
  path: "/cronjobs/run",
  once: true,
  summary:
    "Runs a cron job now, beside its schedule, also while it is suspended; 409 while its concurrency policy forbids it",
  query: Type.Object({
    ...oneByName,
    wait,
  }),
  data: JobRun,
  alsoAnswers: begun,
});

export const listRuns = endpoint({
  method: "GET",
  path: "/jobs/runs",
  scope: "read",
  summary: "Runs of jobs and cron jobs, newest first, as far as their history limits keep them",
  query: Type.Object({
    kind: Text("job or cronjob; both without it"),
    scope: Text("only in this scope"),
    name: Text("only of this name"),
    limit: Text("at most this many (100)"),
  }),
  data: Type.Object({ runs: Type.Array(JobRun) }),
});

export const getRun = endpoint({
  method: "GET",
  path: "/jobs/runs/:id",
  scope: "read",
  summary: "One run",
  data: JobRun,
});

export const cancelRun = endpoint({
  method: "POST",
  path: "/jobs/runs/:id/cancel",
  scope: "actions",
  once: true,
  summary: "Ends a run: its container is stopped and no further try is made. 409 when it has ended already",
  data: JobRun,
});
