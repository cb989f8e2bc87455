import { formatDuration } from "../../../base/pure/duration.ts";
import { createOutbox, type Outbox } from "../../../base/deliver/outbox.ts";
import type { Attempt } from "../../../base/deliver/webhook.ts";
import { nextMessages } from "../../core/alerts/message-order.ts";
import type { DeliveryRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";
import { type SendDelivery, withOnly } from "./send.ts";

/**
 * The worker that sends what `report` has put into the store, the messages of a group in order. That a channel may
 * hear of an alert is written before the attempt: whenever the process ends, the channel gets the end of what it heard.
 */
export function createAlertOutbox(parts: AlertParts, send: SendDelivery): Outbox {
  const { store, clock, log, limits } = parts;
  const isLate = ({ attempts, createdAt }: DeliveryRecord) =>
    attempts > limits.pausesMs.length || clock.now() - createdAt > limits.staleMs;
  return createOutbox<Sending>({
    noun: "alert message",
    waiting: () =>
      nextMessages(store.deliveries.waiting(), { isHeard: store.heard.has, isLate }).map((delivery) => ({
        ...delivery,
        newlyHeard: [],
      })),
    over: (delivery) => overText(delivery, parts),
    isKept: ({ alerts, ends }) => alerts.some((alert) => ends.includes(alert)),
    async send(delivery, signal) {
      const channel = store.channels.get(delivery.channel);
      const message = store.deliveries.message(delivery.message);
      if (channel === undefined || message === undefined) return { outcome: "refused", result: deletedText };
      await writeHeard(parts, delivery);
      const body = { ...withOnly(message.body, delivery.alerts), ...pagerGroup(parts, delivery) };
      return send({ channel, message: body, delivery }, signal);
    },
    record: (delivery, state, made) =>
      store.write(({ deliveries, heard }) => {
        deliveries.update({ id: delivery.id, ...state });
        const { channel } = delivery;
        for (const alert of forgotten(delivery, made)) heard.remove(channel, alert);
        if (state.status === "waiting") return;
        // The end arrived, or the channel will never take it.
        for (const alert of delivery.ends) heard.remove(channel, alert);
      }),
    clock,
    log,
    pausesMs: limits.pausesMs,
    longestWaitMs: Math.max(...limits.pausesMs),
    inFlightMax: limits.inFlightMax,
  });
}

interface Sending extends DeliveryRecord {
  /** Alerts that the channel had not heard of before this attempt. */
  newlyHeard: string[];
}

const deletedText = "the channel was deleted";

/** After a long time without a server, or in a backup that was restored, yesterday's alarm would mislead. */
function overText({ alerts, createdAt }: DeliveryRecord, { clock, limits }: AlertParts): string | undefined {
  const ageMs = clock.now() - createdAt;
  if (ageMs > limits.staleEndMs) return `not sent within ${formatDuration(limits.staleEndMs)}`;
  if (alerts.length > 0) return undefined;
  return ageMs > limits.staleMs ? `not sent within ${formatDuration(limits.staleMs)}` : "over before it was sent";
}

async function writeHeard({ store }: AlertParts, delivery: Sending): Promise<void> {
  const { channel, alerts, ends } = delivery;
  const fresh = alerts.filter((alert) => !ends.includes(alert) && !store.heard.has(channel, alert));
  if (fresh.length === 0) return;
  await store.write(({ heard }) => {
    for (const alert of fresh) heard.add(channel, alert);
  });
  delivery.newlyHeard = fresh;
}

function forgotten({ newlyHeard }: Sending, made: Attempt | undefined): string[] {
  return made?.unheard === true ? newlyHeard : [];
}

/** A message of one group says how many alerts of it the channel takes to fire afterwards: a pager closes at none. */
function pagerGroup({ store }: AlertParts, { channel, ends, groups }: DeliveryRecord) {
  const [group, ...more] = groups;
  if (group === undefined || more.length > 0) return {};
  return { group, firing: store.heard.ofGroup(channel, group).filter((alert) => !ends.includes(alert)).length };
}
