import type { AlertDelivery, Channel } from "../../observability/api/alert-channels.ts";
import type { Heartbeat } from "../../observability/api/alert-heartbeat.ts";
import type { Rule } from "../../observability/api/alert-rules.ts";
import type { Matcher, Silence } from "../../observability/api/alert-silences.ts";
import type { Alert } from "../../observability/api/alerts.ts";
import type { Context } from "../shell/command.ts";
import { printable, type Style } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";
import { ageOf, shortDuration, timeText } from "./time-text.ts";

function table(head: readonly string[], rows: readonly (readonly string[])[], { terminal }: Context): string {
  const shown = rows.map((row) => row.map(printable));
  return tableText([[...head], ...shown], { width: terminal.width, head: terminal.style.dim });
}

/** One line for each, the most severe first; what else there is to say below. */
export function alertsText(
  alerts: readonly Alert[],
  blind: readonly { rule: string; problem: string }[],
  context: Context,
) {
  const now = context.clock.now();
  const rows = alerts.map((alert) => [
    alert.id,
    alert.severity,
    stateText(alert),
    ageOf(alert.fired_at ?? alert.since, now),
    alert.title,
  ]);
  const unseen = blind.map(({ rule, problem }) => `rule ${rule} cannot be evaluated: ${printable(problem)}`);
  const list = rows.length === 0 ? "no alerts" : table(["ID", "SEVERITY", "STATE", "FOR", "WHAT"], rows, context);
  const next = alerts.some(({ state }) => state === "firing") ? ["", "one in full: berth alerts show ID"] : [];
  return [list, ...(unseen.length === 0 ? [] : ["", ...unseen]), ...next].join("\n");
}

function stateText({ state, acknowledged, silenced_by, flapping }: Alert): string {
  const more = [
    ...(acknowledged === undefined ? [] : [`acknowledged by ${acknowledged.by}`]),
    ...(silenced_by === undefined ? [] : ["silenced"]),
    ...(flapping === true ? ["flapping"] : []),
  ];
  return more.length === 0 ? state : `${state} (${more.join(", ")})`;
}

export function historyText(alerts: readonly Alert[], context: Context): string {
  if (alerts.length === 0) return "no alert has fired";
  const rows = alerts.map((alert) => {
    const { fired_at: from, resolved_at: to } = alert;
    const took =
      from === undefined ? "-" : to === undefined ? "still fires" : shortDuration(Date.parse(to) - Date.parse(from));
    return [alert.id, from === undefined ? "-" : timeText(from), took, alert.severity, alert.title];
  });
  return table(["ID", "FIRED", "TOOK", "SEVERITY", "WHAT"], rows, context);
}

export function alertText(alert: Alert, { clock, terminal: { style } }: Context): string {
  const { acknowledged: ack, why } = alert;
  const now = clock.now();
  const rows: [string, string | undefined][] = [
    ["id", alert.id],
    ["rule", alert.rule],
    ["severity", alert.severity],
    ["state", stateText(alert)],
    ["since", `${timeText(alert.since)}, ${ageOf(alert.since, now)} ago`],
    ["fired", alert.fired_at === undefined ? undefined : timeText(alert.fired_at)],
    ["resolved", alert.resolved_at === undefined ? undefined : timeText(alert.resolved_at)],
    [
      "sent",
      alert.sent_at === undefined
        ? "to no channel"
        : `${timeText(alert.sent_at)}; what came of it: berth alerts channels log`,
    ],
    ["acknowledged", ack === undefined ? undefined : `by ${ack.by}${ack.note === undefined ? "" : `: ${ack.note}`}`],
  ];
  const facts = rows.flatMap(([label, value]) => (value === undefined ? [] : [[`  ${label}`, printable(value)]]));
  return [
    style.bold(printable(alert.title)),
    ...(alert.detail === "" ? [] : [`  ${printable(alert.detail)}`]),
    tableText(facts),
    ...section("changed before", why?.changes, style),
    ...section("last lines", why?.lines, style),
    ...section("next", why?.next, style),
  ].join("\n");
}

function section(head: string, lines: readonly string[] = [], style: Style): string[] {
  return lines.length === 0 ? [] : ["", style.bold(head), ...lines.map((line) => `  ${printable(line)}`)];
}

export function rulesText(rules: readonly Rule[], context: Context): string {
  const rows = rules.map((rule) => [
    rule.name,
    rule.enabled ? (rule.problem === undefined ? "on" : "blind") : "off",
    rule.severity,
    rule.for,
    String(rule.firing),
    rule.origin,
    watchText(rule.watch),
  ]);
  const blind = rules.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${printable(problem)}`]));
  const list = table(["NAME", "STATE", "SEVERITY", "FOR", "FIRING", "ORIGIN", "WATCHES"], rows, context);
  return blind.length === 0
    ? list
    : [list, "", "blind, because the server does not have the figures:", ...blind].join("\n");
}

/** What the limit of a condition counts. */
const limitUnits: Readonly<Record<string, string>> = {
  certificate: " days",
  backup: " days",
  disk_full: " %",
  drain: " min",
};

/** What a rule watches, in a few words. */
function watchText(watch: Rule["watch"]): string {
  switch (watch.type) {
    case "platform":
      return `${watch.condition.replaceAll("_", " ")}${watch.limit === undefined ? "" : `, limit ${watch.limit}${limitUnits[watch.condition] ?? ""}`}`;
    case "requests": {
      const failed = watch.failed_percent === undefined ? [] : [`failed requests > ${watch.failed_percent} %`];
      const own = Object.entries(watch.failed_percent_of ?? {}).map(([app, percent]) => `${app} > ${percent} %`);
      return [...failed, ...own, ...(watch.p99_ms === undefined ? [] : [`p99 > ${watch.p99_ms} ms`])].join(" or ");
    }
    case "metric": {
      const above = watch.above === undefined ? [] : [`> ${watch.above}`];
      const below = watch.below === undefined ? [] : [`< ${watch.below}`];
      return `${watch.agg ?? "avg"} ${watch.metric} ${[...above, ...below].join(" or ")}`;
    }
    case "log":
      return `log "${watch.pattern}" > ${watch.more_than ?? 0} lines in ${watch.within ?? "5m"}`;
  }
}

export function ruleText(rule: Rule, context: Context): string {
  const rows: [string, string | undefined][] = [
    ["name", rule.name],
    ["watches", watchText(rule.watch)],
    ["severity", rule.severity],
    ["fires after", rule.for],
    ["ends after", rule.keep],
    ["apps", rule.apps?.join(", ")],
    ["grouped by", rule.group_by?.join(", ")],
    ["channels", rule.channels?.join(", ")],
    ["title", rule.title],
    ["state", rule.enabled ? "on" : "off"],
    ["firing", String(rule.firing)],
    ["origin", rule.origin],
    ["problem", rule.problem],
  ];
  const shown = rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, printable(value)]]));
  return tableText(shown, { width: context.terminal.width });
}

export function silencesText(silences: readonly Silence[], context: Context): string {
  if (silences.length === 0) return "no silences";
  const now = context.clock.now();
  const rows = silences.map(({ id, matcher, by, reason = "-", until }) => {
    return [id, matcherText(matcher), shortDuration(Date.parse(until) - now), by, reason];
  });
  return table(["ID", "ALERTS", "ENDS IN", "BY", "REASON"], rows, context);
}

export function matcherText({ rule, app, severity }: Matcher): string {
  const parts = [
    ...(app === undefined ? [] : [`app ${app}`]),
    ...(rule === undefined ? [] : [`rule ${rule}`]),
    ...(severity === undefined ? [] : [severity]),
  ];
  return parts.join(", ");
}

export function channelsText(channels: readonly Channel[], context: Context): string {
  if (channels.length === 0) return noChannels;
  const now = context.clock.now();
  const rows = channels.map(({ name, type, target, min_severity: least, apps, last }) => [
    name,
    type,
    target,
    least === "info" ? "all" : least === "warning" ? "warning and critical" : "critical",
    apps.length === 0 ? "all" : apps.join(","),
    last === undefined
      ? "never"
      : `${ageOf(last.at, now)} ago: ${last.status === "delivered" ? "delivered" : (last.result ?? last.status)}`,
  ]);
  return table(["NAME", "TYPE", "TARGET", "SEVERITIES", "APPS", "LAST MESSAGE"], rows, context);
}

const noChannels = [
  "no channels: alerts are listed here, and sent to none",
  "to a phone, with the app of ntfy.sh: berth alerts channels add phone ntfy https://ntfy.sh/A-LONG-RANDOM-TOPIC",
].join("\n");

export function deliveriesText(deliveries: readonly AlertDelivery[], context: Context): string {
  if (deliveries.length === 0) return "no messages";
  const rows = deliveries.map(({ created_at: at, channel, status, attempts, result = "-", title }) => {
    return [timeText(at), channel, status, String(attempts), result, title];
  });
  return table(["TIME", "CHANNEL", "STATUS", "TRIES", "RESULT", "MESSAGE"], rows, context);
}

export function heartbeatText(heartbeat: Heartbeat, context: Context): string {
  if (!heartbeat.enabled) return "the heartbeat is off; turn it on with: berth alerts heartbeat set URL";
  const now = context.clock.now();
  const { target = "", every = "", state, last_ok_at: ok, result = "", failures } = heartbeat;
  const last = ok === undefined ? "no ping has arrived yet" : `the last ping arrived ${ageOf(ok, now)} ago`;
  const trouble =
    state === "failing" ? `; ${failures} failed since: ${result}` : state === "held" ? `; held back: ${result}` : "";
  return printable(`pings ${target} every ${every}: ${state}; ${last}${trouble}`);
}
