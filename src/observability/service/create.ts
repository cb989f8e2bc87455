import { createAppsRoom } from "./apps/create.ts";
import { openAlerts } from "./alerts/open.ts";
import { createAuditTrail } from "./audit.ts";
import type { ObservabilityContext } from "./context.ts";
import type { Observability } from "./observability.ts";
import { createMetricsAnswers } from "./metrics/answers.ts";
import { createHostDisk } from "./host/disk.ts";
import { createHostRoom } from "./host/create.ts";
import { createActivityRoom } from "./activity/create.ts";
import { createTrafficRoom } from "./traffic/create.ts";
import { createJobs } from "./jobs/create.ts";
import { createPluginsRoom } from "./plugins/create.ts";
import { createPods } from "./pods/create.ts";
import { createDrainRoom } from "./drains/create.ts";
import { createPodFiles } from "./files/create.ts";
import { createTerminals } from "./terminals/create.ts";
import { createLogsRoom } from "./logs/create.ts";
import { createIdentityRoom } from "./identity/create.ts";
import { createPeopleRoom } from "./people/create.ts";
import { createBoardRoom } from "./saved/boards.ts";
import { createSearchRoom } from "./saved/searches.ts";
import { createRates } from "./rates.ts";
import { createStreams } from "./streams.ts";
import { createUiSessions } from "./sessions.ts";
import { createTracesRoom } from "./traces/create.ts";
import { createTelemetryNotes } from "./telemetry/notes.ts";
import { createTelemetryRoom } from "./telemetry/create.ts";
import { createAccess } from "./tokens/access.ts";
import { createManagedTokens } from "./tokens/tokens.ts";

export interface RunningObservability {
  observability: Observability;
  context: ObservabilityContext;
  /** What the rooms do on their own, until `signal` aborts; resolves when all of it has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Releases what the rooms hold, after `run` has ended. */
  close(): void;
}

/** Puts the rooms together. Each is made here by one line, and may have a loop and a close. */
export function createObservability(context: ObservabilityContext): RunningObservability {
  const rates = createRates(context);
  const streams = createStreams(context);
  const access = createAccess(context, rates);
  const host = createHostRoom(context);
  const pods = createPods(context);
  const audit = createAuditTrail(context);
  const notes = createTelemetryNotes(context.clock, context.limits.telemetry);
  const apps = createAppsRoom(context, { audit, host: host.strip, noted: notes.problems });
  const logs = createLogsRoom(context.platform.logs, context);
  const traces = createTracesRoom(context.platform.traces, context);
  const sessions = createUiSessions(context, { access, rates, streams });
  const metrics = createMetricsAnswers(context.metrics, context.prefix);
  const drains = createDrainRoom(context, logs, context.platform.drains);
  const observability: Observability = {
    ...{ access, rates, streams, audit, apps, host, pods, metrics, logs, drains, traces, sessions },
    tokens: createManagedTokens(context, streams),
    identity: createIdentityRoom(context),
    people: createPeopleRoom(context, { rates, streams, sessions }),
    platform: context.platform,
    ...openAlerts(context, { logs, apps, drains }),
    jobs: createJobs(context),
    plugins: createPluginsRoom(context, apps),
    activity: createActivityRoom(context),
    traffic: createTrafficRoom(context),
    terminals: createTerminals(context, { pods, streams, audit }),
    files: createPodFiles(context, { pods, streams }),
    hostDisk: createHostDisk(context, { metrics, host, streams: streams.count }),
    log: context.log,
    searches: createSearchRoom(context),
    boards: createBoardRoom(context),
    telemetry: createTelemetryRoom({
      ...{ ...context, logs, traces, notes, start: context.platform.decoding },
      limits: context.limits.telemetry,
    }),
  };
  const { people, alerts, telemetry } = observability;
  const whenOpen = [alerts.run, drains.run].map((run) => context.gate.whenOpen(run));
  const loops = [streams.run, people.run, host.run, apps.run, context.metrics.run, logs.run, traces.run, ...whenOpen];
  return {
    observability,
    context,
    run: async (signal) => void (await Promise.all(loops.map((loop) => loop(signal)))),
    close() {
      for (const close of [telemetry.close, context.metrics.close, traces.close]) close();
    },
  };
}
