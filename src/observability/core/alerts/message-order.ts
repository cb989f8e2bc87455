/** What the order of messages needs to know of one that waits. */
interface WaitingMessage {
  id: string;
  channel: string;
  /** Ids of the alerts that it reports, and those of them that it reports as resolved. */
  alerts: readonly string[];
  ends: readonly string[];
  groups: readonly string[];
  /** Epoch milliseconds. */
  nextAt: number;
}

interface Known<M> {
  /** Whether a channel may have heard of an alert, and not of its end. */
  isHeard: (channel: string, alert: string) => boolean;
  /** Whether it is too late for a message to say that an alert fires. */
  isLate: (message: M) => boolean;
}

/**
 * The messages that may go next, of all that wait, oldest first. A message waits while an older one of its channel
 * reports one of its groups. Each is reduced to what is worth telling: that an alert fires only in time, and while no
 * newer message of the channel has its end; an end only to a channel that may have heard of the alert. A message of
 * which nothing is left is due now, to be dropped.
 */
export function nextMessages<M extends WaitingMessage>(waiting: readonly M[], { isHeard, isLate }: Known<M>): M[] {
  const ended = new Set(waiting.flatMap(({ channel, ends }) => ends.map((alert) => `${channel}\0${alert}`)));
  const taken = new Set<string>();
  const next: M[] = [];
  for (const message of waiting) {
    const { channel, ends, groups } = message;
    const places = groups.map((group) => `${channel}\0${group}`);
    if (!places.some((place) => taken.has(place))) {
      const late = isLate(message);
      const alerts = message.alerts.filter((alert) =>
        ends.includes(alert) ? isHeard(channel, alert) : !late && !ended.has(`${channel}\0${alert}`),
      );
      next.push({ ...message, alerts, nextAt: alerts.length === 0 ? 0 : message.nextAt });
    }
    for (const place of places) taken.add(place);
  }
  return next.toSorted((a, b) => a.nextAt - b.nextAt);
}
