import type { Budget, Incident, Timeline } from "../../observability/api/incidents.ts";
import type { Context } from "../shell/command.ts";
import { printable } from "../basics/style.ts";
import { listText, tableText } from "../basics/table-text.ts";
import { shortDuration, timeText } from "./time-text.ts";

export function incidentsText(incidents: readonly Incident[], { terminal }: Context): string {
  if (incidents.length === 0) return "no incidents";
  const rows = incidents.map((incident) => [
    incident.id,
    timeText(incident.from),
    incident.state === "open" ? "open" : shortDuration(incident.seconds * 1_000),
    incident.down_seconds === 0 ? "-" : shortDuration(incident.down_seconds * 1_000),
    String(incident.failed_requests),
    incident.title,
  ]);
  const head = ["ID", "FROM", "TOOK", "DOWN", "FAILED", "WHAT"];
  const list = tableText([head, ...rows.map((row) => row.map(printable))], {
    width: terminal.width,
    head: terminal.style.dim,
  });
  return `${list}\n\none in full: berth incidents show ID`;
}

export function incidentText(incident: Incident, timeline: Timeline | undefined, context: Context): string {
  const { style } = context.terminal;
  const took = shortDuration(incident.seconds * 1_000);
  const facts = [
    ["  from", timeText(incident.from)],
    ["  took", incident.state === "open" ? `${took} until now, still open` : took],
    [
      "  down",
      incident.down_seconds === 0
        ? "never: a replica was ready all the time"
        : shortDuration(incident.down_seconds * 1_000),
    ],
    ["  failed requests", String(incident.failed_requests)],
    ...incident.causes.map(({ kind, text }, index) => [
      index === 0 ? "  likely cause" : "",
      `${kind}: ${printable(text)}`,
    ]),
  ];
  return [
    style.bold(printable(incident.title)),
    listText(facts),
    ...(timeline === undefined ? [] : ["", timelineText(timeline, context)]),
  ].join("\n");
}

/** What happened, oldest first. */
export function timelineText({ entries, missing, from, to }: Timeline, { terminal }: Context): string {
  const { style, width } = terminal;
  const rows = entries.map(({ at, type, text, bad }) => {
    const words = printable(text);
    return [timeText(at).slice(11), type.replace("_", " "), bad === true ? style.red(words) : words];
  });
  const span = `${timeText(from)} to ${timeText(to).slice(11)}`;
  return [
    `${style.bold("timeline")}  ${style.dim(span)}`,
    rows.length === 0 ? "  nothing is on record" : listText(rows, { indent: "  ", width }),
    ...missing.map((text) => `  without ${printable(text)}`),
  ].join("\n");
}

export function budgetsText(budgets: readonly Budget[], { terminal }: Context): string {
  if (budgets.length === 0) return "no apps";
  const rows = budgets.map((budget) => [
    `${budget.scope}/${budget.name}`,
    `${budget.target_percent} %`,
    `${budget.available_percent} %`,
    secondsText(budget.spent_seconds),
    secondsText(budget.left_seconds),
    budget.state,
  ]);
  const head = ["APP", "TARGET", "AVAILABLE", "DOWN", "LEFT", "BUDGET"];
  return tableText([head, ...rows], { width: terminal.width, head: terminal.style.dim });
}

export function budgetText(budget: Budget, context: Context): string {
  const { style, width } = context.terminal;
  const usual = budget.target_is_default ? " (the default)" : "";
  const facts = [
    ["  month", budget.month],
    ["  target", `${budget.target_percent} %${usual}: ${secondsText(budget.allowed_seconds)} of down time`],
    ["  available", `${budget.available_percent} % so far`],
    ["  spent", secondsText(budget.spent_seconds)],
    ["  left", `${secondsText(budget.left_seconds)} (${budget.state})`],
  ];
  const spends = budget.spends.map(({ from, seconds, cause, text }) => [
    timeText(from),
    secondsText(seconds),
    cause,
    printable(text),
  ]);
  return [
    style.bold(`${budget.scope}/${budget.name}`),
    listText(facts),
    ...(spends.length === 0 ? [] : ["", style.bold("spent on"), listText(spends, { indent: "  ", width })]),
  ].join("\n");
}

function secondsText(seconds: number): string {
  if (seconds < 0) return `-${secondsText(-seconds)}`;
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
