import { createLimit } from "../../base/words/limit.ts";
import { apply } from "./apply.ts";
import { createAttendance } from "./plugins/attend.ts";
import { createAssetHolds } from "./desired/asset-holds.ts";
import { atomicApply } from "./write/atomic.ts";
import { createAtomicRoom } from "./write/atomic-room.ts";
import { createAppRoom } from "./views/app-facts.ts";
import { createAutoscaler } from "./desired/autoscale.ts";
import { createSenders } from "./pods/senders.ts";
import { createCallbackRoom } from "./plugins/callbacks.ts";
import { type BuildRoom, createBuildRoom } from "./builds/builds.ts";
import { getConfig, setConfig, unsetConfig } from "./write/config.ts";
import type { Context } from "./state/context.ts";
import type { Controller } from "./controller.ts";
import { createCron } from "./runs/cron.ts";
import { deleteManifest, deleteResource, deleteScope, rebootstrap } from "./write/delete.ts";
import { describe } from "./views/describe.ts";
import { dispatch, execPlugin, listPluginRuns, pluginFile } from "./plugins/dispatch.ts";
import { createEndpointRoom } from "./pods/endpoints.ts";
import { createDeaths } from "./state/deaths.ts";
import { createEngineLink } from "./state/engine-link.ts";
import { listEvents } from "./state/events.ts";
import { createExecRoom, type ExecRoom } from "./pods/exec.ts";
import { lockOperations } from "./write/locks.ts";
import { createPreviewRoom } from "./write/previews.ts";
import { createDiskRoom } from "./views/disk.ts";
import { listLeftovers } from "./write/leftovers.ts";
import { createLogReaders } from "./state/log-readers.ts";
import { podLogs } from "./pods/logs.ts";
import { carryOut } from "./runs/job-run.ts";
import { createJobTable } from "./runs/job-table.ts";
import { cancelRun, getRun, listRuns, runJob } from "./runs/jobs.ts";
import { createIncidents } from "./pods/incidents.ts";
import { createHookOutbox, deliveries } from "./rollout/webhooks.ts";
import { createLeaving } from "./state/leaving.ts";
import { createNotes } from "./state/notes.ts";
import { noPlugins } from "./plugins/plugin-room.ts";
import { endInterruptedRuns } from "./plugins/plugin-run.ts";
import {
  getPlugin,
  installPlugin,
  listPlugins,
  pluginSchema,
  removePlugin,
  rollbackPlugin,
  setPluginEnabled,
  updatePlugin,
} from "./plugins/plugins.ts";
import { createMeasures } from "./views/measures.ts";
import { createPodTable } from "./state/pod-table.ts";
import { getPod, listPods, podReady, startPod, stopPod } from "./pods/pods.ts";
import { createProgress } from "./state/progress.ts";
import { probeTransition } from "./pods/probe-webhooks.ts";
import { createProbeEngine } from "./pods/probes.ts";
import { createCanaries } from "./rollout/canaries.ts";
import { createGuards } from "./rollout/guard.ts";
import { createReceipts } from "./rollout/write-receipts.ts";
import { createReleasePhases } from "./rollout/release-phases.ts";
import { createReconciler, type Reconciler } from "./rollout/reconciler.ts";
import type { ControllerParts, RunningController } from "./running.ts";
import { runRelease } from "./rollout/release-run.ts";
import { rolloutOperations } from "./rollout/rollouts.ts";
import { runApp } from "./runs/run-app.ts";
import { operation, restart } from "./rollout/restart.ts";
import { createRunCalls } from "./plugins/run-calls.ts";
import { replicaUsage } from "./state/replica-usage.ts";
import { restartsBefore } from "./state/save-status.ts";
import { scale } from "./write/scale.ts";
import { podStats } from "./pods/stats.ts";
import { system } from "./views/system.ts";
import { createSleepRoom } from "./desired/sleep.ts";
import { createTearDown } from "./rollout/tear-down.ts";
import { createUsageSampler } from "./state/usage-sampler.ts";
import { wakeApp } from "./write/wake.ts";
import { listUses } from "./views/uses.ts";
import { why } from "./views/why.ts";
import { listManifests } from "./write/list.ts";

/** Wires the rooms of the controller together. */
export function createController(parts: ControllerParts): RunningController {
  const { store, engine, clock, log, limits } = parts;
  const onListenerError = (error: unknown) => log.error("listener failed", { error });
  const endpoints = createEndpointRoom(() => context, onListenerError);
  const apps = createAppRoom(() => context, onListenerError);
  const podsChanged = (key?: string) => {
    endpoints.changed();
    apps.heard(key);
  };
  const pods = createPodTable({
    engine,
    clock,
    earlierRestarts: (pod) => restartsBefore(store, pod),
    onChange: podsChanged,
    onLook: apps.heard,
  });
  const incidents = createIncidents(() => context);
  const progress = createProgress({
    backoffFirstMs: limits.backoffFirstMs,
    backoffMaxMs: limits.backoffMaxMs,
    onListenerError,
  });
  const link = createEngineLink({
    engine,
    pods,
    clock,
    log,
    onEvent: (key, pod) => reconciler.onEvent(key, pod),
    onHeard: (pod, event) => incidents.heard(pod, event),
    // At once: whoever works on its resource may be busy for long, and until then it serves nobody.
    onStart(pod) {
      const looked = pods.look(pod).then(() => probes.watch([pod]));
      looked.catch((error) => log.debug("pod not looked at", { pod: pod.name, error }));
    },
    onUp() {
      reconciler.enqueueAll();
      jobs.engineUp();
    },
  });
  const starts = createLimit(limits.engineCallsMax);
  const jobs = createJobTable({
    store,
    clock,
    log,
    carryOut: (run, signals) => carryOut(context, { run, starts, ...signals }),
  });
  const usage = createUsageSampler({
    read: () => engine.usage(),
    clock,
    intervalMs: parts.statsIntervalMs,
    cores: navigator.hardwareConcurrency,
    onError: (error) => log.debug("usage not read", { error }),
  });
  const probes = createProbeEngine(
    () => context,
    (pod, change) => {
      log.info("probe", { pod: pod.name, probe: change.probe, to: change.to, text: change.text });
      incidents.probed(pod, change);
      probeTransition(context, pod, change).catch((error) =>
        log.error("probe webhook not kept", { pod: pod.name, error }),
      );
    },
    podsChanged,
  );
  const releasePhases = createReleasePhases(() => context, log);
  const outbox = createHookOutbox(parts, parts.sendWebhook);
  const closing = new AbortController();
  const notes = createNotes(parts);
  const context: Context = {
    ...parts,
    plugins: parts.plugins ?? noPlugins(),
    closing: closing.signal,
    pods,
    progress,
    link,
    usage,
    releasePhases,
    receipts: createReceipts(() => context),
    guards: createGuards(() => context),
    canaries: createCanaries(() => context),
    outbox,
    leaving: createLeaving((id) => pods.byId(id) !== undefined, podsChanged),
    logReaders: createLogReaders(),
    notes,
    deaths: createDeaths({ ...parts, notes, pods, probes }),
    probes,
    attendance: createAttendance(() => context),
    starts,
    unusedAssets: new Set(),
    assetHolds: createAssetHolds(),
    jobs,
    attached: new Set(),
    enqueue: (key, ms) => reconciler.enqueue(key, ms),
  };
  const execs = createExecRoom(context);
  const builds = createBuildRoom(context);
  const tearDown = createTearDown(context);
  const previews = createPreviewRoom(context, (scope, actor) =>
    deleteScope(context, tearDown, { scope, options: { prune: true, actor } }),
  );
  const reconciler: Reconciler = createReconciler(context, tearDown);
  const autoscaler = createAutoscaler(context, parts.usageOf ?? ((key) => replicaUsage(context, key)));
  const sleep = createSleepRoom(context);
  const cron = createCron(context);
  const atomic = createAtomicRoom(context);

  return {
    endpoints,
    apps,
    measures: createMeasures(context),
    sleep,
    callbacks: createCallbackRoom(context),
    senders: createSenders(context),
    runCalls: createRunCalls(context),
    controller: operations(context, { reconciler, tearDown, execs, builds, previews }),
    reconciler,
    async firstLook(limitMs) {
      const enough = new AbortController();
      const looked = pods.refreshAll().catch((error) => log.warn("pods not known yet", { error }));
      await Promise.race([looked, clock.sleep(limitMs, enough.signal)]);
      enough.abort();
    },
    async run(signal) {
      signal.addEventListener("abort", () => closing.abort(), { once: true });
      const leaveApps = apps.follow();
      signal.addEventListener("abort", leaveApps, { once: true });
      reconciler.enqueueAll();
      await context.plugins.registry.refresh();
      await builds.endUnfinished().catch((error) => log.error("builds not ended", { error }));
      await endInterruptedRuns(context).catch((error) => log.error("plugin runs not ended", { error }));
      await Promise.all([
        link.follow(signal),
        reconciler.run(signal),
        probes.run(signal),
        usage.run(signal),
        jobs.run(signal),
        cron.run(signal),
        context.attendance.run(signal),
        autoscaler.run(signal),
        sleep.run(signal),
        atomic.run(signal),
        previews.run(signal),
        outbox.run(signal),
      ]);
      await Promise.all([incidents.settled(), context.receipts.settled()]);
      await Promise.all([releasePhases.close(), execs.close(), context.plugins.host.close()]);
    },
  };
}

interface Rooms {
  reconciler: Reconciler;
  tearDown: ReturnType<typeof createTearDown>;
  execs: ExecRoom;
  builds: BuildRoom;
  previews: ReturnType<typeof createPreviewRoom>;
}

/** The orchestration plane's operations in the order of the API document. */
function operations(context: Context, { reconciler, tearDown, execs, builds, previews }: Rooms): Controller {
  return {
    system: () => system(context, reconciler.queued()),
    apply: (body, options) => apply(context, body, options),
    listManifests: (filter, options) => listManifests(context, filter, options),
    deleteManifest: (target, options) => deleteManifest(context, tearDown, { target, options }),
    deleteResource: ({ scope, name, ordinal }, options) =>
      ordinal === undefined
        ? deleteResource(context, tearDown, { scope, name, options })
        : rebootstrap(context, { scope, name, ordinal }, options),
    deleteScope: (scope, options) => deleteScope(context, tearDown, { scope, options }),
    listUses: (filter) => listUses(context, filter),
    listLeftovers: (filter) => listLeftovers(context, filter),
    ...createDiskRoom(context),
    describe: (target) => describe(context, target),
    listPods: (filter, options) => listPods(context, filter, options),
    getPod: (name, options) => getPod(context, name, options),
    podReady: (name) => podReady(context, name),
    stopPod: (name, options) => stopPod(context, name, options),
    startPod: (name, options) => startPod(context, name, options),
    ...execs.operations,
    runApp: (target, body, options) => runApp(context, execs, { target, body, options }),
    podLogs: (name, options) => podLogs(context, name, options),
    stats: (filter, options) => podStats(context, filter, options),
    getConfig: (query) => getConfig(context, query),
    setConfig: (target, vars, options) => setConfig(context, target, { vars, options }),
    unsetConfig: (target, options) => unsetConfig(context, target, options),
    restart: (target, options) => restart(context, target, options),
    scale: (target, options) => scale(context, target, options),
    wake: (target, options) => wakeApp(context, target, options),
    why: (target) => why(context, target),
    operation: (id) => operation(context, id),
    atomicApply: (id) => atomicApply(context, id),
    deliveries: (target) => deliveries(context, target),
    runRelease: (target, options) => runRelease(context, target, options),
    ...builds.operations,
    ...lockOperations(context),
    putPreview: previews.putPreview,
    listPreviews: previews.listPreviews,
    deletePreview: previews.deletePreview,
    ...rolloutOperations(context),
    runJob: (target, options) => runJob(context, target, options),
    listRuns: (filter, options) => listRuns(context, filter, options),
    getRun: (id) => getRun(context, id),
    cancelRun: (id, options) => cancelRun(context, id, options),
    listPlugins: () => listPlugins(context),
    getPlugin: (name) => getPlugin(context, name),
    pluginSchema: (target) => pluginSchema(context, target),
    installPlugin: (body, options) => installPlugin(context, body, options),
    removePlugin: (name, options) => removePlugin(context, name, options),
    updatePlugin: (target, options) => updatePlugin(context, target, options),
    rollbackPlugin: (name, options) => rollbackPlugin(context, name, options),
    setPluginEnabled: (target, options) => setPluginEnabled(context, target, options),
    dispatchPlugin: (request, options) => dispatch(context, request, options),
    execPlugin: (body, caller) => execPlugin(context, body, caller),
    pluginFile: (runId, index) => pluginFile(context, runId, index),
    listPluginRuns: (filter) => listPluginRuns(context, filter),
    events: (filter) => listEvents(context, filter),
  };
}
