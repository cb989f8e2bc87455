import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { cancelRun, getRun, JobRun, listRuns, runJob } from "../../orchestration/api/jobs.ts";
import { aliasOf, planeEndpoint } from "./plane-endpoint.ts";

/** A job or cron job with how its last runs went. */
export const JobView = Type.Object({
  kind: Type.String({ description: "job or cronjob" }),
  scope: Type.String(),
  name: Type.String(),
  image: Type.String(),
  block: Type.Optional(Type.String({ description: "of a plugin, that it was expanded from" })),
  schedule: Type.Optional(Type.String({ description: "of a cron job" })),
  timezone: Type.Optional(Type.String()),
  suspended: Type.Boolean(),
  next_runs: Type.Array(Type.String(), { description: "the next times, soonest first; at most 10 and 31 days" }),
  running: Type.Integer(),
  last_run: Type.Optional(JobRun),
  runs: Type.Array(Type.Omit(JobRun, ["tail"]), { description: "as far as its history keeps them, newest first" }),
});
export type JobView = Static<typeof JobView>;

const kind = Text("job or cronjob; found by itself where only one has the name");

/** One run: what operators get bare. */
const one = { data: Type.Object({ run: JobRun }), shown: (run: JobRun) => ({ run }), once: undefined };

export const listJobs = planeEndpoint({
  method: "GET",
  path: "/jobs",
  scope: "read",
  summary: "Jobs and cron jobs with their next and last runs",
  query: Type.Object({ scope: Text("only of this scope") }),
  data: Type.Object({ jobs: Type.Array(JobView) }),
});

export const listJobRuns = aliasOf(listRuns, {
  path: "/jobs/:scope/:name/runs",
  summary: "Runs of a job or cron job with their last lines, newest first",
  query: Type.Object({ kind, limit: Text("at most this many (default 100, at most 1000)") }),
});

export const getJobRun = aliasOf(getRun, { path: "/runs/:id", summary: "One run of a job or cron job", ...one });

export const runJobNow = aliasOf(runJob, {
  path: "/jobs/:scope/:name/run",
  summary: "Run a job or cron job once, now, and do not wait for its end",
  query: Type.Object({ kind }),
  fixed: { wait: "false" },
  alsoAnswers: { 202: "Begun; follow the run" },
  ...one,
});

export const cancelJobRun = aliasOf(cancelRun, {
  path: "/runs/:id/cancel",
  summary: "End a run: its container is stopped and no further try is made",
  ...one,
});

const Suspended = Type.Object({ scope: Type.String(), name: Type.String(), suspended: Type.Boolean() });

export const pauseCronjob = planeEndpoint({
  method: "POST",
  path: "/jobs/:scope/:name/pause",
  scope: "actions",
  summary: "Keep the clock from starting a cron job; it can still be run by hand",
  data: Suspended,
});

export const resumeCronjob = planeEndpoint({
  method: "POST",
  path: "/jobs/:scope/:name/resume",
  scope: "actions",
  summary: "Let the clock start a cron job again",
  data: Suspended,
});
