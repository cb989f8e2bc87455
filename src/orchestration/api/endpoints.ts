import type { Endpoint } from "../../base/wire/endpoint.ts";
import { getAtomicApply } from "./atomic.ts";
import { apply, deleteManifest, listManifests } from "./apply.ts";
import {
  buildImage,
  buildLog,
  cancelBuild,
  followBuild,
  getBuildContext,
  listBuilds,
  putBuildContext,
  retryBuild,
} from "./builds.ts";
import { getConfig, setConfig, unsetConfig } from "./config.ts";
import { describe } from "./describe.ts";
import { listEvents } from "./events.ts";
import { historyState, listHistory, restoreHistory } from "./history.ts";
import { dispatchPlugin, execPlugin, fetchPluginFile, listPluginRuns } from "./dispatch.ts";
import { execPod, getExec } from "./exec.ts";
import { health, system } from "./health.ts";
import { podLogs, scopeLogs } from "./logs.ts";
import { cancelRun, getRun, listRuns, runCronjob, runJob } from "./jobs.ts";
import { identityEndpoints } from "../../identity/api/manage/endpoints.ts";
import { operatorEndpoints } from "../../observability/api/operator-endpoints.ts";
import { backupEndpoints } from "../../backups/api/backups.ts";
import { databaseEndpoints } from "../../backups/api/databases.ts";
import { drillEndpoints } from "../../backups/api/drills.ts";
import { repairEndpoints } from "../../backups/api/repairs.ts";
import { rehearsalEndpoints } from "../../backups/api/rehearsals.ts";
import { restoreEndpoints } from "../../backups/api/restore.ts";
import { ingressEndpoints } from "../../ingress/api/endpoints.ts";
import { listDeliveries } from "./webhooks.ts";
import { listLocks, lock, unlock } from "./locks.ts";
import { deletePreview, listPreviews, putPreview } from "./previews.ts";
import { getDisk, planPrune, prune } from "./disk.ts";
import { listLeftovers } from "./leftovers.ts";
import { openapi } from "./openapi.ts";
import {
  acceptPlugin,
  disablePlugin,
  enablePlugin,
  getPlugin,
  getPluginSchema,
  installPlugin,
  listPlugins,
  pluginChanges,
  removePlugin,
  rollbackPlugin,
  updatePlugin,
} from "./plugins.ts";
import { getPluginConfig, setPluginConfig } from "./plugin-config.ts";
import { getPod, listPods, podReady, startPod, stopPod } from "./pods.ts";
import { deleteResource, deleteScope } from "./resource.ts";
import { listReleases, rollback, runRelease } from "./releases.ts";
import { readFiles, statFile, writeFiles } from "./files.ts";
import { forwardPort } from "./forward.ts";
import { runApp } from "./run-app.ts";
import { getOperation, restart } from "./restart.ts";
import { abortRollout, getRollout, pauseRollout, promoteRollout, resumeRollout } from "./rollouts.ts";
import { scale } from "./scale.ts";
import { listUses } from "./uses.ts";
import { wake } from "./wake.ts";
import { fetchSource } from "./sources.ts";
import { why } from "./why.ts";
import { listStats } from "./stats.ts";

/** The orchestration plane, whole: what is not in this list does not exist. */
export const orchestrationEndpoints: Endpoint[] = [
  health,
  system,
  apply,
  listManifests,
  deleteManifest,
  deleteResource,
  deleteScope,
  listLeftovers,
  getDisk,
  planPrune,
  prune,
  listUses,
  describe,
  listPods,
  getPod,
  podReady,
  stopPod,
  startPod,
  podLogs,
  scopeLogs,
  execPod,
  getExec,
  runApp,
  forwardPort,
  statFile,
  readFiles,
  writeFiles,
  listStats,
  getConfig,
  setConfig,
  unsetConfig,
  restart,
  getOperation,
  getAtomicApply,
  scale,
  wake,
  runRelease,
  listReleases,
  rollback,
  lock,
  unlock,
  listLocks,
  putPreview,
  listPreviews,
  deletePreview,
  getRollout,
  pauseRollout,
  resumeRollout,
  promoteRollout,
  abortRollout,
  getBuildContext,
  putBuildContext,
  buildImage,
  fetchSource,
  listBuilds,
  buildLog,
  followBuild,
  cancelBuild,
  retryBuild,
  why,
  runJob,
  runCronjob,
  listRuns,
  getRun,
  cancelRun,
  listDeliveries,
  listEvents,
  ...[listHistory, historyState, restoreHistory],
  ...identityEndpoints,
  ...ingressEndpoints,
  ...backupEndpoints,
  ...databaseEndpoints,
  ...restoreEndpoints,
  ...drillEndpoints,
  ...rehearsalEndpoints,
  ...repairEndpoints,
  ...operatorEndpoints,
  listPlugins,
  listPluginRuns,
  fetchPluginFile,
  getPlugin,
  getPluginSchema,
  installPlugin,
  removePlugin,
  updatePlugin,
  pluginChanges,
  acceptPlugin,
  getPluginConfig,
  setPluginConfig,
  rollbackPlugin,
  enablePlugin,
  disablePlugin,
  execPlugin,
  dispatchPlugin,
  openapi,
];
