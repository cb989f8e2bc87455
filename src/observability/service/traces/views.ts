import { Failure } from "../../../base/wire/failure.ts";
import type { SpanView, TraceRow, TraceView } from "../../api/traces.ts";
import type { LogApp } from "../../core/logs/line.ts";
import type { Span } from "../../core/traces/span.ts";
import { treeOf } from "../../core/traces/tree.ts";
import type { TracesStore } from "../../store/traces/traces-store.ts";
import { type FoundTrace, traceOf } from "./search.ts";

const iso = (us: number) => new Date(Math.floor(us / 1_000)).toISOString();
const msOf = (us: number) => us / 1_000;

export function traceRow({ trace, fromUs, untilUs, root, apps, spans, errors }: FoundTrace): TraceRow {
  const duration_ms = msOf(untilUs - fromUs);
  return { trace_id: trace, at: iso(fromUs), duration_ms, root, apps, spans, errors };
}

interface ViewParts {
  store: TracesStore;
  pause: () => Promise<void>;
  limits: { spansShownMax: number; blocksReadMax: number };
}

interface Own extends Span {
  app: LogApp;
}

/** A whole trace, as far as the caller may see its apps. Fails `not_found`. */
export async function viewOf(
  { store, pause, limits }: ViewParts,
  id: string,
  sees: (app: LogApp) => boolean,
): Promise<TraceView> {
  const parts = /^[0-9a-f]{32}$/.test(id) ? store.partsOf(id).filter(({ app }) => sees(app)) : [];
  const found = traceOf(parts);
  if (found === undefined) {
    throw new Failure(
      "not_found",
      `there is no trace "${id}", or its app is out of reach; list them with: berth traces`,
    );
  }
  const spans: Own[] = [];
  for (const part of parts.slice(0, limits.blocksReadMax)) {
    for (const span of store.spansOf(part)) spans.push({ ...span, app: part.app });
    await pause();
  }
  const placed = treeOf(spans);
  const shown = placed.slice(0, limits.spansShownMax);
  return {
    ...traceRow(found),
    tree: shown.map(({ span, depth }) => ({ ...spanView(span, found.fromUs), depth })),
    more: Math.max(placed.length, found.spans - (spans.length - placed.length)) - shown.length,
  };
}

function spanView(span: Own, fromUs: number): Omit<SpanView, "depth"> {
  const { id, parent, name, kind, app, service, replica, atUs, durationUs, error, message, attributes, events } = span;
  return {
    span_id: id,
    ...(parent === "" ? {} : { parent_id: parent }),
    name,
    kind,
    ...{ scope: app.scope, app: app.name, service, replica_id: replica, at: iso(atUs) },
    offset_ms: msOf(atUs - fromUs),
    duration_ms: msOf(durationUs),
    error,
    ...(message === "" ? {} : { message }),
    attributes,
    events: events.map((event) => ({
      offset_ms: msOf(event.atUs - fromUs),
      name: event.name,
      attributes: event.attributes,
    })),
  };
}
