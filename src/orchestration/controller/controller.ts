import { apply } from "./apply.ts";
import type { BuildRoom } from "./builds/builds.ts";
import { dispatch as dispatchPlugin, execPlugin, listPluginRuns, pluginFile } from "./plugins/dispatch.ts";
import { getPluginConfig, setPluginConfig } from "./plugins/plugin-config.ts";
import {
  acceptPlugin,
  getPlugin,
  installPlugin,
  listPlugins,
  pluginChanges,
  pluginSchema,
  removePlugin,
  rollbackPlugin,
  setPluginEnabled,
  updatePlugin,
} from "./plugins/plugins.ts";
import type { ExecRoom } from "./pods/exec.ts";
import { podLogs, scopeLogs } from "./pods/logs.ts";
import { getPod, listPods, podReady } from "./pods/pods.ts";
import { startPod, stopPod } from "./rollout/stop-pod.ts";
import { podStats as stats } from "./pods/stats.ts";
import type { ExecOptions } from "./requests.ts";
import { rollback } from "./rollout/put-back.ts";
import { runRelease } from "./rollout/release-run.ts";
import { listReleases } from "./rollout/releases.ts";
import { operation, restart } from "./rollout/restart.ts";
import { rollout, tellRollout } from "./rollout/rollouts.ts";
import { deliveries } from "./state/webhooks.ts";
import { cancelRun, getRun, listRuns, runJob } from "./runs/jobs.ts";
import { type AppTarget, runApp } from "./runs/run-app.ts";
import type { Context } from "./state/context.ts";
import { listEvents as events } from "./state/events.ts";
import { restoreHistory } from "./restore.ts";
import { describe } from "./views/describe.ts";
import { historyState, listHistory } from "./views/history.ts";
import { createDiskRoom } from "./views/disk.ts";
import { system } from "./views/system.ts";
import { listUses } from "./write/uses.ts";
import { why } from "./views/why.ts";
import { atomicApply } from "./write/atomic.ts";
import { type Bucket, type ConfigOptions, getConfig, setConfig, unsetConfig } from "./write/config.ts";
import { deleteManifest, deleteResource, deleteScope } from "./write/delete.ts";
import { listLeftovers } from "./write/leftovers.ts";
import { listManifests } from "./views/list.ts";
import { lockOperations } from "./state/locks.ts";
import type { PreviewRoom } from "./write/previews.ts";
import { scale } from "./write/scale.ts";
import { wakeApp as wake } from "./write/wake.ts";

/** What an endpoint does; the rest of it are the caller's arguments. */
type Operation = (context: Context, ...rest: never[]) => unknown;

type Bound<O> = {
  [K in keyof O]: O[K] extends (context: Context, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

interface Rooms {
  execs: ExecRoom;
  builds: BuildRoom;
  previews: PreviewRoom;
}

/**
 * Every operation of the orchestration plane, one method per endpoint; the HTTP floor only translates. Each says itself
 * what it fails with; expected errors are `Failure`s. `actor` is free text for the event log.
 */
export type Controller = ReturnType<typeof createOperations>;

export function createOperations(context: Context, { execs, builds, previews }: Rooms) {
  return {
    ...bound(context, { system, apply, listManifests, deleteManifest, deleteResource, deleteScope }),
    ...bound(context, { listUses, listLeftovers, describe, why, events, operation, atomicApply, deliveries }),
    ...bound(context, { listHistory, historyState, restoreHistory }),
    ...bound(context, { listPods, getPod, podReady, stopPod, startPod, podLogs, scopeLogs, stats }),
    ...bound(context, { getConfig, unsetConfig, restart, scale, wake }),
    ...bound(context, { runRelease, rollback, listReleases, rollout, tellRollout }),
    ...bound(context, { runJob, listRuns, getRun, cancelRun }),
    ...bound(context, { listPlugins, getPlugin, pluginSchema, installPlugin, removePlugin, updatePlugin }),
    ...bound(context, { pluginChanges, acceptPlugin, getPluginConfig, setPluginConfig }),
    ...bound(context, { rollbackPlugin, setPluginEnabled, dispatchPlugin, execPlugin, pluginFile, listPluginRuns }),
    setConfig: (bucket: Bucket, vars: unknown, options: ConfigOptions) => setConfig(context, bucket, { vars, options }),
    runApp: (target: AppTarget, body: unknown, options: ExecOptions) =>
      runApp(context, execs, { target, body, options }),
    ...createDiskRoom(context),
    ...lockOperations(context),
    ...execs.operations,
    ...builds.operations,
    ...previews.operations,
  };
}

function bound<O extends Record<string, Operation>>(context: Context, operations: O): Bound<O> {
  const entries = Object.entries(operations).map(([name, run]) => [name, run.bind(undefined, context)]);
  return Object.fromEntries(entries) as Bound<O>;
}
