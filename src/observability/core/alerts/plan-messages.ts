import type { Severity } from "../../api/alerts.ts";

/** What the planning of messages needs to know of an alert. Times are epoch milliseconds. */
export interface Reportable {
  id: string;
  severity: Severity;
  /** Alerts of one group go out together. */
  group: string;
  state: "firing" | "resolved";
  firedAt: number;
  /** When a message last reported that it fires; undefined: none did. */
  sentAt: number | undefined;
  endSent: boolean;
  acknowledged: boolean;
  silenced: boolean;
}

export interface PlanLimits {
  /** A new alert waits this long for others of its group. */
  waitMs: number;
  /** Between two messages of one group. */
  intervalMs: number;
  /** This many messages within `stormMs` make a storm: then all groups share one message each `intervalMs`. */
  stormMessages: number;
  stormMs: number;
  /** How long until an alert that was not acknowledged is sent again; 0: never. */
  repeatMs: Readonly<Record<Severity, number>>;
}

interface Sent {
  /** When the last message of a group went out. */
  groups: ReadonlyMap<string, number>;
  /** When messages of any group went out. */
  recent: readonly number[];
  now: number;
}

export interface PlannedMessage {
  group: string;
  fired: string[];
  resolved: string[];
  reminded: string[];
}

/** The group of a message that stands for all groups. */
const stormGroup = "*";

/** The messages that are due now. An alert that ended before any message reported it is not reported. */
export function planMessages(alerts: readonly Reportable[], sent: Sent, limits: PlanLimits): PlannedMessage[] {
  const groups = Map.groupBy(alerts, ({ group }) => group);
  const due = [...groups].flatMap(([group, members]) => planGroup(group, members, { sent, limits }) ?? []);
  const recent = sent.recent.filter((at) => at <= sent.now && at > sent.now - limits.stormMs);
  if (recent.length + due.length <= limits.stormMessages || due.length === 0) return due;
  const last = recent.length < limits.stormMessages ? undefined : Math.max(...recent);
  return isQuiet(last, limits.intervalMs, sent.now) ? [merged(due)] : [];
}

function merged(due: readonly PlannedMessage[]): PlannedMessage {
  const [only, ...more] = due;
  if (only !== undefined && more.length === 0) return only;
  return {
    group: stormGroup,
    fired: due.flatMap(({ fired }) => fired),
    resolved: due.flatMap(({ resolved }) => resolved),
    reminded: due.flatMap(({ reminded }) => reminded),
  };
}

function planGroup(
  group: string,
  members: readonly Reportable[],
  { sent, limits }: { sent: Sent; limits: PlanLimits },
): PlannedMessage | undefined {
  const { now } = sent;
  const last = sent.groups.get(group);
  const fresh = members.filter((one) => one.state === "firing" && one.sentAt === undefined && !one.silenced);
  const ended = members.filter((one) => one.state === "resolved" && one.sentAt !== undefined && !one.endSent);
  const again = members.filter((one) => isReminder(one, limits, now));
  const waited = fresh.some(({ firedAt }) => now - firedAt >= limits.waitMs || firedAt > now);
  const freshDue = waited && isQuiet(last, limits.intervalMs, now);
  const endDue = ended.length > 0 && isQuiet(last, limits.waitMs, now);
  if (!freshDue && !endDue && again.length === 0) return undefined;
  return { group, fired: freshDue ? ids(fresh) : [], resolved: ids(ended), reminded: ids(again) };
}

/** A last time in the future is one of a clock that was set back. */
function isQuiet(last: number | undefined, pauseMs: number, now: number): boolean {
  return last === undefined || last > now || now - last >= pauseMs;
}

function isReminder(one: Reportable, { repeatMs }: PlanLimits, now: number): boolean {
  const pauseMs = repeatMs[one.severity];
  if (one.state !== "firing" || one.sentAt === undefined || one.acknowledged || one.silenced || pauseMs === 0)
    return false;
  return now - one.sentAt >= pauseMs;
}

function ids(alerts: readonly Reportable[]): string[] {
  return alerts.map(({ id }) => id);
}
