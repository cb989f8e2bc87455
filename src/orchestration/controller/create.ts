import { createLimit } from "../../base/words/limit.ts";
import { createAttendance } from "./plugins/attend.ts";
import { createAssetHolds } from "./state/asset-holds.ts";
import { createAtomicRoom } from "./write/atomic-room.ts";
import { createAppRoom } from "./views/app-facts.ts";
import { createAutoscaler } from "./desired/autoscale.ts";
import { createSenders } from "./pods/senders.ts";
import { createCallbackRoom } from "./plugins/callbacks.ts";
import { recordMakers, strandedWarnings } from "./state/makers.ts";
import { createBuildRoom } from "./builds/builds.ts";
import type { Context } from "./state/context.ts";
import { createOperations } from "./controller.ts";
import { createCron } from "./runs/cron.ts";
import { createEndpointRoom } from "./pods/endpoints.ts";
import { createDeaths } from "./state/deaths.ts";
import { createEngineLink } from "./state/engine-link.ts";
import { createExecRoom } from "./pods/exec.ts";
import { createPreviewRoom } from "./write/previews.ts";
import { createLogReaders } from "./state/log-readers.ts";
import { carryOut } from "./runs/job-run.ts";
import { createJobTable } from "./state/job-table.ts";
import { createIncidents } from "./pods/incidents.ts";
import { createHookOutbox } from "./state/webhooks.ts";
import { createDepartures } from "./state/departures.ts";
import { createLeaving } from "./state/leaving.ts";
import { createNotes } from "./state/notes.ts";
import { noPlugins } from "./state/plugin-room.ts";
import { endInterruptedRuns } from "./plugins/plugin-run.ts";
import { createMeasures } from "./views/measures.ts";
import { createPodTable } from "./state/pod-table.ts";
import { createProgress } from "./state/progress.ts";
import { probeTransition } from "./pods/probe-webhooks.ts";
import { createProbeRoom } from "./pods/probes.ts";
import { knock } from "./state/knock.ts";
import { createPortRoom } from "./pods/ports.ts";
import { createCanaries } from "./rollout/canaries.ts";
import { createGuards } from "./rollout/guard.ts";
import { createReceipts } from "./rollout/write-receipts.ts";
import { createReleasePhases } from "./rollout/release-phases.ts";
import { planRehearsal } from "./rehearse.ts";
import { createReconciler, type Reconciler } from "./reconcile/reconciler.ts";
import type { ControllerParts, RunningController } from "./running.ts";
import { createRunCalls } from "./plugins/run-calls.ts";
import { replicaUsage } from "./desired/replica-usage.ts";
import { restartsBefore } from "./rollout/save-status.ts";
import { createSleepRoom } from "./rollout/sleep.ts";
import { createTearDown } from "./rollout/tear-down.ts";
import { createUsageSampler } from "./state/usage-sampler.ts";
import { createVolumeHolds } from "./state/volume-holds.ts";
import { createDrillRoom } from "./rollout/drill-room.ts";
import { createVolumeRoom } from "./rollout/volume-room.ts";

/** Wires the rooms of the controller together. */
export function createController(parts: ControllerParts): RunningController {
  const { clock, log } = parts;
  const onListenerError = (error: unknown) => log.error("listener failed", { error });
  const closing = new AbortController();
  const incidents = createIncidents(() => context);
  const endpoints = createEndpointRoom(() => context, onListenerError);
  const apps = createAppRoom(() => context, onListenerError);
  const outbox = createHookOutbox(parts, parts.sendWebhook);
  const jobs = createJobTable({
    ...{ store: parts.store, clock, log },
    carryOut: (run, signals) => carryOut(context, { run, starts: context.starts, ...signals }),
  });
  const context: Context = contextOf(parts, {
    ...{ contextOf: () => context, reconciler: () => reconciler, incidents, onListenerError },
    rooms: { apps, outbox, jobs, closing: closing.signal },
    podsChanged(key) {
      endpoints.changed();
      apps.heard(key);
    },
    onLook: apps.heard,
  });
  const { pods } = context;
  const execs = createExecRoom(context);
  const builds = createBuildRoom(context);
  const previews = createPreviewRoom(context);
  const reconciler: Reconciler = createReconciler(context);
  const autoscaler = createAutoscaler(context, parts.usageOf ?? ((key) => replicaUsage(context, key)));
  const sleep = createSleepRoom(context);
  const cron = createCron(context);
  const atomic = createAtomicRoom(context);

  /** What acts by itself, and not only to keep replicas running. */
  const acting = parts.gate.whenOpen(async (signal) => {
    // Release commands and canary steps that were held back.
    reconciler.enqueueAll();
    const rooms = [jobs, cron, context.attendance, autoscaler, sleep, previews, outbox];
    await Promise.all(rooms.map((room) => room.run(signal)));
  });

  return {
    ...{ endpoints, apps, sleep, reconciler },
    measures: createMeasures(context),
    volumes: createVolumeRoom(context),
    drills: createDrillRoom(context, {
      inside: parts.insideNetwork ?? (() => ({ fetch: parts.fetch, knock: context.knock ?? knock })),
      plan: (body, caller) => planRehearsal(context, body, caller),
    }),
    callbacks: createCallbackRoom(context),
    senders: createSenders(context),
    runCalls: createRunCalls(context),
    controller: createOperations(context, { execs, builds, previews }),
    async firstLook(limitMs) {
      // Before any door opens: each of them compares blocks with the plugins that are there.
      await context.plugins.registry.refresh();
      await recordMakers(context);
      for (const warning of strandedWarnings(context)) log.warn("block without its plugin", { warning });
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
      const { link, probes, ports, usage } = context;
      const rooms = [link.follow, reconciler.run, probes.run, ports.run, usage.run, atomic.run, acting];
      await Promise.all(rooms.map((room) => room(signal)));
      await Promise.all([context.departures.settled(), incidents.settled(), context.receipts.settled()]);
      await Promise.all([context.releasePhases.close(), execs.close(), context.plugins.host.close()]);
    },
  };
}

/** What the rooms get from each other once all of them are made. */
interface Wiring {
  contextOf: () => Context;
  reconciler: () => Reconciler;
  incidents: ReturnType<typeof createIncidents>;
  onListenerError: (error: unknown) => void;
  rooms: Pick<Context, "apps" | "outbox" | "jobs" | "closing">;
  /** What the pods are, or whether they are ready, is another. */
  podsChanged: (key?: string) => void;
  onLook: (key?: string) => void;
}

function contextOf(parts: ControllerParts, wiring: Wiring): Context {
  const { store, engine, clock, log, limits } = parts;
  const { contextOf: context, reconciler, onListenerError, podsChanged } = wiring;
  const pods = createPodTable({
    ...{ engine, clock, onChange: podsChanged, onLook: wiring.onLook },
    earlierRestarts: (pod) => restartsBefore(store, pod),
  });
  const { backoffFirstMs, backoffMaxMs } = limits;
  const probes = probesOf(context, wiring.incidents, podsChanged);
  const notes = createNotes(parts);
  return {
    ...parts,
    plugins: parts.plugins ?? noPlugins(),
    ...wiring.rooms,
    ...{ pods, probes, notes, starts: createLimit(limits.engineCallsMax) },
    progress: createProgress({ backoffFirstMs, backoffMaxMs, onListenerError }),
    link: linkOf(parts, pods, wiring),
    usage: createUsageSampler({
      ...{ read: () => engine.usage(), clock, intervalMs: parts.statsIntervalMs },
      cores: navigator.hardwareConcurrency,
      onError: (error) => log.debug("usage not read", { error }),
    }),
    releasePhases: createReleasePhases(context, log),
    receipts: createReceipts(context),
    guards: createGuards(context),
    canaries: createCanaries(context),
    leaving: createLeaving((id) => pods.byId(id) !== undefined, podsChanged),
    departures: createDepartures({
      isKnown: (id) => pods.byId(id) !== undefined,
      onEnd: (key) => reconciler().enqueue(key),
    }),
    logReaders: createLogReaders(),
    volumeHolds: createVolumeHolds(),
    deaths: createDeaths({ ...parts, notes, pods, probes }),
    ports: createPortRoom(context, podsChanged),
    knock: parts.knock ?? knock,
    attendance: createAttendance(context),
    assetHolds: createAssetHolds(),
    ...{ unusedAssets: new Set(), attached: new Set() },
    tearDown: createTearDown(context),
    enqueue: (key, ms) => reconciler().enqueue(key, ms),
    queued: () => reconciler().queued(),
  };
}

type PodTable = ReturnType<typeof createPodTable>;

function linkOf(
  { engine, clock, log, limits }: ControllerParts,
  pods: PodTable,
  { contextOf: context, reconciler, incidents }: Wiring,
) {
  return createEngineLink({
    ...{ engine, pods, clock, log, limits },
    onEvent: (key, pod) => reconciler().onEvent(key, pod),
    onHeard: (pod, event) => incidents.heard(pod, event),
    // At once: the round that works on its resource may take long, and until then the pod serves no requests.
    onStart(pod) {
      const looked = pods.look(pod).then(() => {
        context().probes.watch([pod]);
        context().ports.watch([pod]);
      });
      looked.catch((error) => log.debug("pod not looked at", { pod: pod.name, error }));
    },
    onUp(down) {
      if (down !== undefined) context().progress.skip(down);
      reconciler().enqueueAll();
      context().jobs.engineUp();
    },
  });
}

function probesOf(context: () => Context, incidents: Wiring["incidents"], onChange: (key?: string) => void) {
  return createProbeRoom(
    context,
    (pod, change) => {
      const { log } = context();
      log.info("probe", { pod: pod.name, probe: change.probe, to: change.to, text: change.text });
      incidents.probed(pod, change);
      probeTransition(context(), pod, change).catch((error) =>
        log.error("probe webhook not kept", { pod: pod.name, error }),
      );
    },
    onChange,
  );
}
