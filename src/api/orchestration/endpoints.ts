import type { Endpoint } from "../endpoint.ts";
import { apply, deleteManifest, listManifests } from "./apply.ts";
import { getConfig, setConfig, unsetConfig } from "./config.ts";
import { describe } from "./describe.ts";
import { listEvents } from "./events.ts";
import { health, system } from "./health.ts";
import { listDeliveries } from "./hooks.ts";
import { openapi } from "./openapi.ts";
import { getPod, listPods, podReady, startPod, stopPod } from "./pods.ts";
import { deleteResource, deleteScope } from "./resource.ts";
import { listReleases, rollback, runRelease } from "./releases.ts";
import { getOperation, restart } from "./restart.ts";

/** The orchestration plane, whole: what is not in this list does not exist. */
export const orchestrationEndpoints: Endpoint[] = [
  health,
  system,
  apply,
  listManifests,
  deleteManifest,
  deleteResource,
  deleteScope,
  describe,
  listPods,
  getPod,
  podReady,
  stopPod,
  startPod,
  getConfig,
  setConfig,
  unsetConfig,
  restart,
  getOperation,
  runRelease,
  listReleases,
  rollback,
  listDeliveries,
  listEvents,
  openapi,
];
