import { isFromAfar, sees, unseen } from "../../access/apps.ts";
import type { Principal } from "../../access/principal.ts";
import { cancelRun, getRun, type JobRun, listRuns, runCronjob, runJob } from "../api/jobs.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import type { JobKind } from "../core/resolve-job.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readCount } from "../../base/http/request.ts";
import { seenTarget } from "./seen.ts";

const runsPageDefault = 100;
const jobs = {
  kinds: ["job", "cronjob"] as const,
  what: (kind?: string) => (kind === "cronjob" ? "cron job" : "job"),
};

export function mountJobs(plane: Plane, controller: Controller, options: { pageMax: number }): void {
  for (const [endpoint, own] of [
    [runJob, "job"],
    [runCronjob, "cronjob"],
  ] as const) {
    mount(plane, endpoint, {
      answer({ query: { wait, ...query }, actor, by }) {
        // A token that leaves the kind out means either.
        const { kind = own, ...target } = seenTarget(controller, { query, by }, jobs);
        return controller.runJob({ ...target, kind: kind as JobKind }, { wait: readFlag(wait, true), actor });
      },
      status: hasEnded,
    });
  }
  mount(plane, listRuns, ({ query: { limit, ...query }, by }) => {
    const count = readCount("limit", limit, options.pageMax) ?? runsPageDefault;
    return controller.listRuns(seenTarget(controller, { query, by }, jobs), { limit: count });
  });
  mount(plane, getRun, ({ params, by }) => seenRun(controller, params.id ?? "", by));
  mount(plane, cancelRun, ({ params, actor, by }) => {
    const id = params.id ?? "";
    if (isFromAfar(by)) seenRun(controller, id, by);
    return controller.cancelRun(id, { actor });
  });
}

function seenRun(controller: Pick<Controller, "getRun">, id: string, by: Principal): JobRun {
  const run = controller.getRun(id);
  if (!sees(by, run)) throw unseen(`run "${id}"`);
  return run;
}

/** A caller that waited gets a run that has ended. */
function hasEnded({ status }: JobRun): number {
  return status === "scheduled" || status === "running" ? 202 : 200;
}
