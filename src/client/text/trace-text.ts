import type { SpanView, TracePage, TraceView } from "../../observability/api/traces.ts";
import type { Context } from "../shell/command.ts";
import { printable } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";
import { timeText } from "./time-text.ts";

export function tracesText({ traces, cursor, searched_to: searchedTo }: TracePage, { terminal }: Context): string {
  const { style, width } = terminal;
  const more =
    searchedTo === undefined
      ? []
      : [style.dim(`older traces than ${timeText(searchedTo)} were not looked at: use --until`)];
  if (traces.length === 0) return ["no traces", ...more].join("\n");
  const rows = traces.map((trace) => [
    trace.trace_id,
    timeText(trace.at),
    millisText(trace.duration_ms),
    String(trace.spans),
    trace.errors === 0 ? "-" : String(trace.errors),
    trace.apps.join(" "),
    trace.root,
  ]);
  const head = ["ID", "AT", "TOOK", "SPANS", "ERRORS", "APPS", "WHAT"];
  const list = tableText([head, ...rows.map((row) => row.map(printable))], { width, head: style.dim });
  const hint = cursor === undefined ? [] : [style.dim("there are older ones: use --limit or --until")];
  return [list, ...hint, ...more, "", "one in full: berth traces show ID"].join("\n");
}

const barWidth = 24;

export function traceText(trace: TraceView, { terminal }: Context): string {
  const { style, width } = terminal;
  const title = `${trace.root}  ${millisText(trace.duration_ms)}`;
  const rows = trace.tree.map((span) => [
    `${"  ".repeat(span.depth)}${span.name}`,
    `${span.scope}/${span.app}`,
    millisText(span.offset_ms),
    millisText(span.duration_ms),
    barOf(span, trace.duration_ms),
    span.error ? style.red(printable(span.message ?? "failed")) : "",
  ]);
  const head = ["SPAN", "APP", "AFTER", "TOOK", "", ""];
  const shown = rows.map(([name = "", app = "", ...rest]) => [printable(name), printable(app), ...rest]);
  return [
    style.bold(printable(title)),
    style.dim(`${timeText(trace.at)}  ${trace.trace_id}`),
    tableText([head, ...shown], { width, head: style.dim }),
    ...(trace.more > 0 ? [style.dim(`${trace.more} more spans`)] : []),
    "",
    `its log lines: berth logs --field trace_id=${trace.trace_id}`,
  ].join("\n");
}

/** Where in the trace a span lies. */
function barOf({ offset_ms: offset, duration_ms: duration }: SpanView, whole: number): string {
  if (whole <= 0) return "";
  const from = Math.min(barWidth - 1, Math.max(0, Math.floor((offset / whole) * barWidth)));
  const length = Math.min(barWidth - from, Math.max(1, Math.round((duration / whole) * barWidth)));
  return `${"·".repeat(from)}${"━".repeat(length)}${"·".repeat(barWidth - from - length)}`;
}

function millisText(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms >= 1) return `${Math.round(ms)} ms`;
  return `${ms.toFixed(2)} ms`;
}
