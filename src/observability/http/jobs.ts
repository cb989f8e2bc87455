import { readCount, readParam } from "../../base/http/request.ts";
import { cancelJobRun, getJobRun, listJobRuns, listJobs, pauseCronjob, resumeCronjob, runJobNow } from "../api/jobs.ts";
import { readTarget } from "./apps.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

const runsMax = 1_000;
const runsAtOnce = 100;

export function mountJobs(plane: ObservabilityPlane): void {
  const { jobs } = plane.observability;
  mount(plane, listJobs, async ({ grant, query }) => ({ jobs: await jobs.list(grant, query) }));
  mount(plane, listJobRuns, async (call) => {
    const limit = readCount("limit", call.query.limit, runsMax) ?? runsAtOnce;
    return { runs: await jobs.runs(call.grant, readTarget(call), limit) };
  });
  mount(plane, getJobRun, async ({ grant, params }) => ({ run: await jobs.run(grant, readParam(params, "id")) }));
  mount(plane, runJobNow, {
    answer: async (call) => ({ run: await jobs.start(call, readTarget(call)) }),
    status: () => 202,
  });
  mount(plane, cancelJobRun, async (call) => ({ run: await jobs.cancel(call, readParam(call.params, "id")) }));
  mount(plane, pauseCronjob, (call) => jobs.suspend(call, readTarget(call), true));
  mount(plane, resumeCronjob, (call) => jobs.suspend(call, readTarget(call), false));
}
