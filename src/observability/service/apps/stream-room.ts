import type { Client } from "../../../base/wire/client.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";
import type { Log } from "../../../base/words/log.ts";
import { listEvents } from "../../../orchestration/api/events.ts";
import type { StreamEvents } from "../../api/stream.ts";
import { activityOf, type NameOf } from "../../core/apps/activity.ts";
import type { StreamFilter } from "../../core/stream/filter.ts";
import type { StreamEvent } from "../../core/stream/ring.ts";
import type { AppsLimits } from "./limits.ts";
import type { AppModel, ModelChange } from "./model.ts";
import type { Operations } from "./operations.ts";
import { type Bus, createBus } from "../bus/bus.ts";

/** The stream, and who else has something to say on it. */
export interface StreamRoom {
  bus: Bus;
  /** An alert began, changed or ended; `app` where it is about one. */
  alert(data: unknown, app: { scope: string; name: string } | undefined): void;
}

interface StreamParts {
  model: AppModel;
  operations: Operations;
  client: Client;
  nameOf: NameOf;
  clock: SteadyClock;
  log: Log;
  version(): string;
  epoch: string;
  limits: AppsLimits["stream"];
}

export function createStreamRoom(parts: StreamParts): StreamRoom & { run(signal: AbortSignal): Promise<void> } {
  const { model, operations, client, nameOf, clock, log, limits } = parts;
  const bus = createBus({ ...parts, snapshot: (filter) => snapshotFor(model, filter, clock.now()) });

  model.subscribe((change) => {
    const event = eventOf(change);
    if (event !== undefined) bus.publish(event, change.type !== "metrics");
  });
  operations.subscribe((operation) =>
    bus.publish(ofApp("operation", "state", { app: operation.app, data: operation }), true),
  );

  let seq: number | undefined;

  /** The log does not report when it grows. */
  async function readEvents(): Promise<void> {
    if (seq === undefined) {
      const { events } = await client.call(listEvents, { query: { limit: 1 } });
      seq = events.at(-1)?.seq ?? 0;
      return;
    }
    const { events } = await client.call(listEvents, { query: { after: seq, limit: limits.eventsPerLook } });
    for (const event of events) {
      seq = event.seq;
      const data = JSON.stringify(activityOf(event, nameOf));
      const dataFor = (filter: StreamFilter) => (seesEvent(filter, event) ? data : undefined);
      bus.publish({ type: "event", topic: "events", dataFor }, true);
    }
  }

  async function followEvents(signal: AbortSignal): Promise<void> {
    let readAt = -Infinity;
    while (!signal.aborted) {
      const isDue = bus.count("events") > 0 || clock.steady() - readAt >= limits.eventsQuietLookMs;
      if (isDue) {
        readAt = clock.steady();
        await readEvents().catch((error: unknown) => log.debug("event log not read", { error }));
      }
      await sleepAbout(clock, limits.eventsLookMs, signal);
    }
  }

  return {
    bus,
    alert: (data, app) =>
      bus.publish(app === undefined ? ofAll("alert", "alerts", data) : ofApp("alert", "alerts", { app, data }), true),
    run: async (signal) => void (await Promise.all([bus.run(signal), followEvents(signal)])),
  };
}

function seesEvent(filter: StreamFilter, event: { scope?: string; name?: string }): boolean {
  const { scope, name } = event;
  if (scope === undefined || scope === "") return filter.seesAll;
  return filter.sees({ scope, name: name ?? "*" });
}

function ofApp(
  type: string,
  topic: StreamEvent["topic"],
  { app, data }: { app: { scope: string; name: string }; data: unknown },
): StreamEvent {
  const text = JSON.stringify(data);
  return { type, topic, dataFor: (filter) => (filter.sees(app) ? text : undefined) };
}

function ofAll(type: string, topic: StreamEvent["topic"], data: unknown): StreamEvent {
  const text = JSON.stringify(data);
  return { type, topic, dataFor: (filter) => (filter.seesAll ? text : undefined) };
}

function eventOf(change: ModelChange): StreamEvent | undefined {
  switch (change.type) {
    case "app":
      return ofApp("app", "state", { app: change.known.app, data: change.known.app });
    case "gone":
      return ofApp("gone", "state", { app: change.ref, data: change.ref });
    case "problems":
      return {
        type: "problems",
        topic: "state",
        dataFor: (filter) =>
          JSON.stringify({ engine_up: change.engineUp, problems: seenProblems(change.problems, filter) }),
      };
    case "metrics":
      return {
        type: "metrics",
        topic: "metrics",
        dataFor: (filter) => JSON.stringify(seenFigures(change.tick, filter)),
      };
    case "looked":
      return undefined;
  }
}

function seenProblems(problems: readonly StreamEvents["problems"]["problems"][number][], filter: StreamFilter) {
  return problems.filter(({ app, type }) =>
    app === undefined ? filter.seesAll || type === "engine" : filter.sees(app),
  );
}

function seenFigures({ at, host, apps }: StreamEvents["metrics"], filter: StreamFilter): StreamEvents["metrics"] {
  return { at, ...(host === undefined || !filter.seesAll ? {} : { host }), apps: apps.filter(filter.sees) };
}

function snapshotFor(model: AppModel, filter: StreamFilter, now: number): StreamEvents["snapshot"] {
  const apps = model.list().map(({ app }) => app);
  return {
    at: new Date(now).toISOString(),
    engine_up: model.engine().up,
    apps: apps.filter(filter.sees),
    problems: seenProblems(model.problems(), filter),
  };
}
