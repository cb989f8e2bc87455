import { formatDuration } from "../../../base/pure/duration.ts";
import { createOutbox, type Outbox } from "../../../base/deliver/outbox.ts";
import type { DeliveryRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "./parts.ts";
import { type SendDelivery, withOnly } from "./send.ts";

/** The worker that sends what `report` has put into the store. */
export function createAlertOutbox({ store, clock, log, limits }: AlertParts, send: SendDelivery): Outbox {
  return createOutbox<DeliveryRecord>({
    noun: "alert message",
    waiting: (limit) => store.deliveries.waiting(limit),
    record: ({ id }, state) => store.write(({ deliveries }) => deliveries.update({ id, ...state })),
    async send(delivery, signal) {
      // After a long time without a server, or in a backup that was restored: yesterday's alarm would mislead.
      if (clock.now() - delivery.createdAt > limits.staleMs) {
        return { outcome: "refused", result: `not sent within ${formatDuration(limits.staleMs)}` };
      }
      const channel = store.channels.get(delivery.channel);
      const message = store.deliveries.message(delivery.message);
      if (channel === undefined || message === undefined)
        return { outcome: "refused", result: "the channel was deleted" };
      return send({ channel, message: withOnly(message.body, delivery.alerts), delivery }, signal);
    },
    clock,
    log,
    pausesMs: limits.pausesMs,
    longestWaitMs: Math.max(...limits.pausesMs),
    inFlightMax: limits.inFlightMax,
  });
}
