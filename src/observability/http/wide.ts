import { mountActions } from "./actions.ts";
import { mountApps } from "./apps.ts";
import { mountBuilds } from "./builds.ts";
import { mountSources } from "./sources.ts";
import { mountDisk } from "./disk.ts";
import { mountDeploys } from "./deploys.ts";
import { mountActivity } from "./activity.ts";
import { mountTraffic } from "./traffic.ts";
import { mountJobs } from "./jobs.ts";
import type { ObservabilityPlane } from "./plane.ts";
import { mountSettings } from "./settings.ts";
import { mountStreamRoute } from "./stream.ts";

/** Everything about apps, deploys and the machine. */
export function mountWide(plane: ObservabilityPlane): void {
  mountApps(plane);
  mountActions(plane);
  mountDeploys(plane);
  mountBuilds(plane);
  mountSources(plane);
  mountSettings(plane);
  mountJobs(plane);
  mountDisk(plane);
  mountActivity(plane);
  mountTraffic(plane);
  mountStreamRoute(plane);
}
