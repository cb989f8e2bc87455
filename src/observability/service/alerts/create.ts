import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { Acknowledgement, type Alert, type listAlerts } from "../../api/alerts.ts";
import type { Rule } from "../../api/alert-rules.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { Facts } from "../../core/alerts/facts.ts";
import { bySeverity } from "../../core/alerts/message.ts";
import type { AlertFilter } from "../../store/alerts/alerts.ts";
import type { AlertRecord } from "../../store/alerts/records.ts";
import { type ChannelRoom, createChannelRoom } from "./channels.ts";
import { evaluate } from "./evaluate.ts";
import { createHeartbeat, type HeartbeatRoom } from "./heartbeat.ts";
import { createAlertOutbox } from "./outbox.ts";
import type { AlertParts } from "../alert-parts.ts";
import { createReleaseReader } from "./release-reader.ts";
import { report } from "./report.ts";
import { createRules, type RuleState } from "./rules.ts";
import { createSendDelivery } from "./send.ts";
import { createSilenceRoom, type SilenceRoom } from "./silences.ts";
import { alarmsOf, alertViews } from "./views.ts";
import { sleepAbout } from "../../../base/words/sleep-about.ts";

export interface AlertRoom {
  alerts: {
    /** What fires and what is pending, the most severe first. */
    list(filter: { scope?: string | undefined; name?: string | undefined }): DataOf<typeof listAlerts>;
    history(filter: AlertFilter): Alert[];
    /** Fails `not_found`. */
    get(id: string): Alert;
    /** Fails `conflict` for one that does not fire any more. */
    acknowledge(id: string, body: unknown, by: string): Promise<Alert>;
  };
  rules: {
    list(): Rule[];
    get(name: string): Rule;
    put(name: string, body: unknown, by: string): Promise<Rule>;
    remove(name: string): Promise<{ name: string; restored: boolean }>;
  };
  silences: SilenceRoom;
  channels: ChannelRoom;
  heartbeat: HeartbeatRoom;
  /** One look at everything, and the messages that follow from it. */
  look(): Promise<void>;
  /** Looks, sends and pings until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** `onFacts` hears what each look found. */
export function createAlerts(parts: AlertParts, onFacts: (facts: Facts) => Promise<void>): AlertRoom {
  const { store, clock, log, limits } = parts;
  const rules = createRules(parts);
  const send = createSendDelivery(parts);
  const outbox = createAlertOutbox(parts, send);
  const readReleases = createReleaseReader(parts.client);
  let blind: ReadonlyMap<string, string> = new Map();
  let evaluatedAt: { now: number; steady: number } | undefined;
  const isAlive = () => clock.steady() - (evaluatedAt?.steady ?? 0) < limits.everyMs * missedLooksMax;
  const heartbeat = createHeartbeat(parts, isAlive);

  async function look(): Promise<void> {
    const active = rules.active();
    const round = await evaluate(parts, active, readReleases);
    blind = round.blind;
    evaluatedAt = { now: clock.now(), steady: clock.steady() };
    parts.fires?.(alarmsOf(parts, active));
    if (await report(parts, active)) outbox.wake();
    await onFacts(round.facts);
  }

  const state = (): RuleState => {
    const firing = store.alerts.open().filter((alert) => alert.state === "firing");
    return {
      firing: new Map([...Map.groupBy(firing, ({ rule }) => rule)].map(([k, list]) => [k, list.length])),
      blind,
    };
  };

  return {
    alerts: {
      list({ scope, name }) {
        const isMeant = ({ labels }: AlertRecord) =>
          (scope === undefined || labels.scope === scope) && (name === undefined || labels.name === name);
        const views = alertViews(parts, store.alerts.open().filter(isMeant));
        const firing = views.filter((alert) => alert.state === "firing");
        const pending = views.filter((alert) => alert.state === "pending");
        return {
          alerts: [...bySeverity(firing), ...bySeverity(pending)],
          blind: [...blind].map(([rule, problem]) => ({ rule, problem })),
          ...(evaluatedAt === undefined ? {} : { evaluated_at: isoTime(evaluatedAt.now) }),
        };
      },
      history: (filter) => alertViews(parts, store.alerts.history(filter)),
      get: (id) => oneOf(parts, id),
      acknowledge: (id, body, by) => acknowledge(parts, id, { body, by }),
    },
    rules: {
      list: () => rules.list(state()),
      get: (name) => rules.get(name, state()),
      async put(name, body, by) {
        await rules.put(name, body, by);
        return rules.get(name, state());
      },
      remove: async (name) => ({ name, restored: await rules.remove(name) }),
    },
    silences: createSilenceRoom(parts, rules),
    channels: createChannelRoom(parts, send),
    heartbeat,
    look,
    async run(signal) {
      let tidiedAt = clock.steady();
      const looking = async () => {
        await clock.sleep(limits.firstMs, signal);
        while (!signal.aborted) {
          await look().catch((error) => log.error("alerts not evaluated", { error }));
          if (clock.steady() - tidiedAt >= limits.tidyMs) {
            tidiedAt = clock.steady();
            await tidy(parts);
          }
          await sleepAbout(clock, limits.everyMs, signal);
        }
      };
      await Promise.all([looking(), outbox.run(signal), heartbeat.run(signal)]);
    },
  };
}

/** How many looks may fail before the heartbeat stops. */
const missedLooksMax = 5;

async function tidy({ store, clock, limits, log }: AlertParts): Promise<void> {
  const now = clock.now();
  const change = () =>
    store.write(
      ({ alerts, deliveries, heard, outages }) => {
        alerts.trim(limits.historyKept);
        heard.trim();
        deliveries.trim(limits.messagesKept, now - limits.plan.stormMs - limits.plan.intervalMs);
        outages.purge(now - limits.outagesKeptMs);
      },
      { durable: false },
    );
  await change().catch((error) => log.error("old alerts not deleted", { error }));
}

function oneOf(parts: AlertParts, id: string): Alert {
  const record = parts.store.alerts.get(id);
  const [view] = record === undefined ? [] : alertViews(parts, [record]);
  if (view === undefined) {
    throw new Failure("not_found", `there is no alert "${id}"; list them with: berth alerts`);
  }
  return view;
}

const readBody = schemaReader(Acknowledgement);

async function acknowledge(parts: AlertParts, id: string, asked: { body: unknown; by: string }): Promise<Alert> {
  const { store, clock } = parts;
  const body = readBody(asked.body);
  oneOf(parts, id);
  await store.write(({ alerts }) => {
    const record = alerts.get(id);
    if (record === undefined || record.state === "resolved") {
      throw new Failure("conflict", `the alert "${id}" does not fire any more`);
    }
    alerts.update({ ...record, acknowledged: { by: asked.by, at: clock.now(), note: body.note } });
  });
  const alert = oneOf(parts, id);
  parts.told?.(alert);
  return alert;
}
