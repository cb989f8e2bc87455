import { listJobs, pauseCronjob, resumeCronjob } from "../api/jobs.ts";
import { readTarget } from "./apps.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountJobs(plane: ObservabilityPlane): void {
  const { jobs } = plane.observability;
  mount(plane, listJobs, async ({ grant, query }) => ({ jobs: await jobs.list(grant, query) }));
  mount(plane, pauseCronjob, (call) => jobs.suspend(call, readTarget(call), true));
  mount(plane, resumeCronjob, (call) => jobs.suspend(call, readTarget(call), false));
}
