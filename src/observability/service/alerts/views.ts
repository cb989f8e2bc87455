import { isoTime } from "../../../base/pure/iso-time.ts";
import type { AlertDelivery } from "../../api/alert-channels.ts";
import type { Silence } from "../../api/alert-silences.ts";
import type { Alert } from "../../api/alerts.ts";
import type { Alarm } from "../../core/apps/alarms.ts";
import type { ActiveRule } from "../../core/alerts/rules.ts";
import { appOf, fits } from "../../core/alerts/labels.ts";
import { flappingFires } from "../../core/alerts/machine.ts";
import type { AlertRecord, DeliveryRecord, SilenceRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";

/** The silence that holds the messages about an alert back. */
export function silenceOf(alert: AlertRecord, silences: readonly SilenceRecord[]): SilenceRecord | undefined {
  const app = appOf(alert.labels) ?? "";
  return silences.find(({ matcher: { rule, app: pattern, severity } }) => {
    const isRule = rule === undefined || fits(rule, alert.rule);
    const isApp = pattern === undefined || fits(pattern, app);
    return isRule && isApp && (severity === undefined || severity === alert.severity);
  });
}

/** What fires now and is not silenced. Of severity info nothing: that is for people to know. */
export function alarmsOf({ store, clock }: Pick<AlertParts, "store" | "clock">, rules: readonly ActiveRule[]): Alarm[] {
  const silences = store.silences.list(clock.now());
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  return store.alerts.open().flatMap((record): Alarm[] => {
    const { rule, severity, title, detail, labels, since, why, state } = record;
    if (state !== "firing" || severity === "info" || silenceOf(record, silences) !== undefined) return [];
    const watch = byName.get(rule)?.watch;
    // A rule that watches times of answers, too, does not say which of the two it found.
    const isOfVisitors = watch?.type === "requests" && watch.p99_ms === undefined;
    const condition = watch?.type === "platform" ? watch.condition : undefined;
    const [command] = why?.next ?? [];
    return [{ rule, severity, title, detail, labels, since, began: why?.began, command, condition, isOfVisitors }];
  });
}

/** Alerts as the wire has them. */
export function alertViews(
  { store, clock, limits }: Pick<AlertParts, "store" | "clock" | "limits">,
  records: readonly AlertRecord[],
): Alert[] {
  const now = clock.now();
  const silences = store.silences.list(now);
  return records.map((record) => {
    const silence = record.state === "resolved" ? undefined : silenceOf(record, silences);
    const fires = store.alerts.fires(record.fingerprint, now - limits.flapWindowMs);
    return { ...viewOf(record), ...flags(silence, fires) };
  });
}

function flags(silence: SilenceRecord | undefined, fires: number): Pick<Alert, "silenced_by" | "flapping"> {
  return {
    ...(silence === undefined ? {} : { silenced_by: silence.id }),
    ...(fires >= flappingFires ? { flapping: true } : {}),
  };
}

function viewOf(record: AlertRecord): Alert {
  const { id, rule, severity, state, title, detail, labels, value, acknowledged, why } = record;
  return {
    ...{ id, rule, severity, state, title, detail, labels },
    ...(value === undefined ? {} : { value }),
    since: isoTime(record.since),
    ...timePart("fired_at", record.firedAt),
    ...timePart("resolved_at", record.resolvedAt),
    ...(acknowledged === undefined ? {} : { acknowledged: acknowledgedView(acknowledged) }),
    ...timePart("sent_at", record.firstSentAt),
    ...(why === undefined ? {} : { why }),
  };
}

function acknowledgedView({ by, at, note }: NonNullable<AlertRecord["acknowledged"]>) {
  return { by, at: isoTime(at), ...(note === undefined ? {} : { note }) };
}

function timePart<N extends string>(name: N, at: number | undefined): { [K in N]?: string } {
  return at === undefined ? {} : ({ [name]: isoTime(at) } as { [K in N]?: string });
}

export function silenceView({ id, matcher, by, reason, createdAt, until }: SilenceRecord): Silence {
  const times = { created_at: isoTime(createdAt), until: isoTime(until) };
  return { id, matcher, by, ...(reason === undefined ? {} : { reason }), ...times };
}

export function deliveryView(delivery: DeliveryRecord): AlertDelivery {
  const { id, channel, title, alerts, status, attempts, createdAt, nextAt, lastResult } = delivery;
  return {
    ...{ id, channel, title, alerts: [...alerts], status, attempts, created_at: isoTime(createdAt) },
    ...(status === "waiting" ? { next_at: isoTime(nextAt) } : {}),
    ...(lastResult === undefined ? {} : { result: lastResult }),
  };
}
