import { isoTime } from "../../../base/pure/iso-time.ts";
import type { Alert } from "../../api/alerts.ts";
import { isAbout } from "../../core/alerts/labels.ts";
import { type Message, severityRank, titleText } from "../../core/alerts/message.ts";
import { type PlannedMessage, planMessages, type Reportable } from "../../core/alerts/plan-messages.ts";
import type { ActiveRule } from "../../core/alerts/rules.ts";
import type { AlertNouns } from "../../store/alerts/nouns.ts";
import type { AlertRecord, ChannelRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";
import { withOnly } from "./send.ts";
import { alertViews, silenceOf } from "./views.ts";

/**
 * Puts the messages that are due into the outbox. The marks that an alert was reported are in the same transaction as
 * the messages: a crash neither loses one nor sends it twice. Returns whether there is something to send.
 */
export async function report(parts: AlertParts, rules: readonly ActiveRule[]): Promise<boolean> {
  const { store, clock, limits } = parts;
  const channels = store.channels.list();
  if (channels.length === 0) return false;
  const now = clock.now();
  const silences = store.silences.list(now);
  const records = new Map([...store.alerts.open(), ...store.alerts.ended()].map((record) => [record.id, record]));
  const reportable = [...records.values()].flatMap((record) => {
    return reportableOf(record, silenceOf(record, silences) !== undefined) ?? [];
  });
  const recent = store.deliveries.sentSince(now - limits.plan.stormMs);
  const planned = planMessages(reportable, { groups: store.deliveries.groups(), recent, now }, limits.plan);
  if (planned.length === 0) return false;
  const room = { parts, channels, rules: new Map(rules.map((rule) => [rule.name, rule])), records };
  await store.write((nouns) => {
    for (const one of planned) post(nouns, one, room);
  });
  return true;
}

function reportableOf(record: AlertRecord, silenced: boolean): Reportable | undefined {
  const { id, severity, group, state, firedAt, sentAt, endSent, acknowledged } = record;
  if (state === "pending" || firedAt === undefined) return undefined;
  return { id, severity, group, state, firedAt, sentAt, endSent, acknowledged: acknowledged !== undefined, silenced };
}

interface Room {
  parts: AlertParts;
  channels: readonly ChannelRecord[];
  rules: ReadonlyMap<string, ActiveRule>;
  records: ReadonlyMap<string, AlertRecord>;
}

function post(nouns: AlertNouns, planned: PlannedMessage, room: Room): void {
  const { parts, channels, records } = room;
  const now = parts.clock.now();
  const message = messageOf(planned, room);
  const sent = new Set<string>();
  const all = [...message.fired, ...message.reminded, ...message.resolved];
  const waiting = nouns.deliveries.waiting();
  for (const channel of channels) {
    const told = waiting.filter((delivery) => delivery.channel === channel.name).flatMap(({ alerts }) => alerts);
    // An end goes to those that heard of the alert, whatever rule and channel choose by now.
    const isWanted = (alert: Alert) =>
      planned.resolved.includes(alert.id)
        ? told.includes(alert.id) || nouns.heard.has(channel.name, alert.id)
        : isFor(channel, alert, room);
    const ids = all.filter(isWanted).map(({ id }) => id);
    const groupOf = (id: string) => nouns.heard.group(channel.name, id) ?? records.get(id)?.group ?? "";
    for (const part of partsOf(channel, ids, groupOf)) {
      // Deliveries refer to their message, so it comes first.
      if (sent.size === 0)
        nouns.deliveries.addMessage({ id: message.id, group: planned.group, body: message, createdAt: now });
      nouns.deliveries.hasten(channel.name, part.groups, now);
      nouns.deliveries.add({
        ...{ id: parts.newId(), message: message.id, channel: channel.name, ...part },
        ...{ title: titleText(withOnly(message, part.alerts)) },
        ends: part.alerts.filter((id) => planned.resolved.includes(id)),
        ...{ status: "waiting", attempts: 0, nextAt: now, createdAt: now, lastResult: undefined },
      });
      for (const id of part.alerts) sent.add(id);
    }
  }
  nouns.deliveries.putGroup(planned.group, now);
  for (const { id } of all) {
    const record = nouns.alerts.get(id) ?? records.get(id);
    if (record === undefined) continue;
    const isEnded = planned.resolved.includes(id);
    const firstSentAt = record.firstSentAt ?? (sent.has(id) ? now : undefined);
    nouns.alerts.update({ ...record, firstSentAt, ...(isEnded ? { endSent: true } : { sentAt: now }) });
  }
}

/** Pagers know an incident by its group, so each group is a message of its own there, in a storm as well. */
function partsOf(
  { target }: ChannelRecord,
  ids: readonly string[],
  groupOf: (id: string) => string,
): { alerts: string[]; groups: string[] }[] {
  const byGroup = Map.groupBy(ids, groupOf);
  if (target.type === "pagerduty") return [...byGroup].map(([group, alerts]) => ({ alerts, groups: [group] }));
  return ids.length === 0 ? [] : [{ alerts: [...ids], groups: [...byGroup.keys()] }];
}

function messageOf(planned: PlannedMessage, { parts, records }: Room): Message {
  const views = (ids: readonly string[]) =>
    alertViews(
      parts,
      ids.flatMap((id) => records.get(id) ?? []),
    );
  const isFiring = ({ state, group }: AlertRecord) => state === "firing" && group === planned.group;
  return {
    id: parts.newId(),
    group: planned.group,
    server: parts.server,
    at: isoTime(parts.clock.now()),
    fired: views(planned.fired),
    resolved: views(planned.resolved),
    reminded: views(planned.reminded),
    firing: [...records.values()].filter(isFiring).length,
  };
}

function isFor(channel: ChannelRecord, { severity, labels, rule }: Alert, { rules }: Room): boolean {
  const only = rules.get(rule)?.channels;
  const isChosen = only === undefined || only.length === 0 || only.includes(channel.name);
  return isChosen && severityRank[severity] <= severityRank[channel.minSeverity] && isAbout(labels, channel.apps);
}
