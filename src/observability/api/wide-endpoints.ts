import { getApp, getOverview, listApps } from "./apps.ts";
import { listDeploys } from "./deploys.ts";
import type { PlaneEndpoint } from "./plane-endpoint.ts";

/** Everything about apps, deploys and the machine; the other rooms of the plane have lists of their own. */
export const wideEndpoints: PlaneEndpoint[] = [getOverview, listApps, getApp, listDeploys];
