import { cancelRun, getRun, type JobRun, listRuns, runCronjob, runJob } from "../api/jobs.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readCount } from "../../base/http/request.ts";

const runsPageDefault = 100;

export function mountJobs(plane: Plane, controller: Controller, options: { pageMax: number }): void {
  for (const [endpoint, kind] of [
    [runJob, "job"],
    [runCronjob, "cronjob"],
  ] as const) {
    mount(plane, endpoint, {
      answer: ({ query: { wait, ...target }, actor }) =>
        controller.runJob({ ...target, kind }, { wait: readFlag(wait, true), actor }),
      status: hasEnded,
    });
  }
  mount(plane, listRuns, ({ query: { limit, ...filter } }) => {
    return controller.listRuns(filter, { limit: readCount("limit", limit, options.pageMax) ?? runsPageDefault });
  });
  mount(plane, getRun, ({ params }) => controller.getRun(params.id ?? ""));
  mount(plane, cancelRun, ({ params, actor }) => controller.cancelRun(params.id ?? "", { actor }));
}

/** A caller that waited gets a run that has ended. */
function hasEnded({ status }: JobRun): number {
  return status === "scheduled" || status === "running" ? 202 : 200;
}
