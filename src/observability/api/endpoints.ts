import { alertEndpoints } from "./alert-endpoints.ts";
import { openAppRun, openTerminal } from "./exec.ts";
import { fileEndpoints } from "./files.ts";
import { metricEndpoints } from "./metrics.ts";
import { planeLogs, planePodLogs } from "./pod-logs.ts";
import { getPlanePod, listPlanePods, restartPlanePod, sampledStats } from "./pods.ts";
import { planeSystem } from "./system.ts";
import { boardEndpoints } from "./boards.ts";
import { drainEndpoints } from "./log-drains.ts";
import { logSearchEndpoints } from "./log-searches.ts";
import { traceEndpoints } from "./traces.ts";
import { logEndpoints } from "./log-search.ts";
import { planeOpenapi } from "./openapi.ts";
import { planeIdentityEndpoints } from "./identity.ts";
import { planePeopleEndpoints } from "./people.ts";
import type { PlaneEndpoint } from "./plane-endpoint.ts";
import { planePatEndpoints } from "./tokens.ts";
import { whoami } from "./whoami.ts";
import { pluginEndpoints } from "./plugins.ts";
import {
  listBackupApps,
  listBackupRuns,
  listBackupTargets,
  listSnapshots,
  runBackup,
} from "../../backups/api/backups.ts";
import { drillEndpoints } from "../../backups/api/drills.ts";
import { rehearsalEndpoints } from "../../backups/api/rehearsals.ts";
import { restoreEndpoints } from "../../backups/api/restore.ts";
import { listActivity, listAudit } from "./activity.ts";
import { listCerts, listRequests, listSites, renewCert } from "./traffic.ts";
import { getAtomicApply } from "../../orchestration/api/atomic.ts";
import { historyState, listHistory, restoreHistory } from "../../orchestration/api/history.ts";
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
const wideEndpoints: PlaneEndpoint[] = [
  ...[getOverview, listApps, getApp, listDeploys],
  ...[listAppReleases, diffReleases, applyManifests, getAtomicApply, listStored, deleteApp],
  ...buildEndpoints,
  ...[fetchAppSource, uploadSource],
  ...[restartApp, stopApp, freezeApp, startApp, scaleApp, rollbackApp, pauseApp, resumeApp, promoteApp, abortApp],
  ...[listJobs, listJobRuns, getJobRun, runJobNow, cancelJobRun, pauseCronjob, resumeCronjob],
  ...[listActivity, listAudit, listSites, listCerts, renewCert, listRequests],
  ...[listHistory, historyState, restoreHistory],
  ...diskEndpoints,
  ...[
    listBackupApps,
    listBackupTargets,
    listBackupRuns,
    listSnapshots,
    runBackup,
    ...restoreEndpoints,
    ...drillEndpoints,
    ...rehearsalEndpoints,
  ],
  ...[listOperations, getAppOperation, openStream],
  ...[getScopeConfig, getAppConfig, changeScopeConfig, changeAppConfig, revealScopeConfig, revealAppConfig],
];

/** The observability plane, whole: what is not in this list does not exist there. */
export const planeEndpoints: PlaneEndpoint[] = [
  whoami,
  planeOpenapi,
  ...planePatEndpoints,
  ...planePeopleEndpoints,
  ...planeIdentityEndpoints,
  planeSystem,
  sampledStats,
  listPlanePods,
  getPlanePod,
  restartPlanePod,
  planePodLogs,
  planeLogs,
  ...alertEndpoints,
  ...metricEndpoints,
  ...logEndpoints,
  ...traceEndpoints,
  ...drainEndpoints,
  ...logSearchEndpoints,
  ...boardEndpoints,
  ...wideEndpoints,
  ...pluginEndpoints,
  openTerminal,
  openAppRun,
  ...fileEndpoints,
];
