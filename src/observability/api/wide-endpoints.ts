import { listActivity, listAudit } from "./activity.ts";
import { listCerts, listRequests, listSites, renewCert } from "./traffic.ts";
import { getAtomicApply } from "../../orchestration/api/atomic.ts";
import { buildEndpoints } from "./builds.ts";
import { diskEndpoints } from "./disk.ts";
import { getApp, getOverview, listApps } from "./apps.ts";
import { applyManifests, deleteApp, diffReleases, listAppReleases, listDeploys, listStored } from "./deploys.ts";
import { cancelJobRun, getJobRun, listJobRuns, listJobs, pauseCronjob, resumeCronjob, runJobNow } from "./jobs.ts";
import {
  abortApp,
  freezeApp,
  getAppOperation,
  listOperations,
  pauseApp,
  promoteApp,
  restartApp,
  resumeApp,
  rollbackApp,
  scaleApp,
  startApp,
  stopApp,
} from "./operations.ts";
import type { PlaneEndpoint } from "./plane-endpoint.ts";
import {
  changeAppConfig,
  changeScopeConfig,
  getAppConfig,
  getScopeConfig,
  revealAppConfig,
  revealScopeConfig,
} from "./settings.ts";
import { uploadSource } from "../../orchestration/api/sources.ts";
import { fetchAppSource } from "./sources.ts";
import { openStream } from "./stream.ts";

/** Everything about apps, deploys and the machine; the other rooms of the plane have lists of their own. */
export const wideEndpoints: PlaneEndpoint[] = [
  ...[getOverview, listApps, getApp, listDeploys],
  ...[listAppReleases, diffReleases, applyManifests, getAtomicApply, listStored, deleteApp],
  ...buildEndpoints,
  ...[fetchAppSource, uploadSource],
  ...[restartApp, stopApp, freezeApp, startApp, scaleApp, rollbackApp, pauseApp, resumeApp, promoteApp, abortApp],
  ...[listJobs, listJobRuns, getJobRun, runJobNow, cancelJobRun, pauseCronjob, resumeCronjob],
  ...[listActivity, listAudit, listSites, listCerts, renewCert, listRequests],
  ...diskEndpoints,
  ...[listOperations, getAppOperation, openStream],
  ...[getScopeConfig, getAppConfig, changeScopeConfig, changeAppConfig, revealScopeConfig, revealAppConfig],
];
