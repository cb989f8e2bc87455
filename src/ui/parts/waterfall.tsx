import type { SpanView } from "../../observability/api/traces.ts";
import { attributeText, barOf, spanTime } from "../text/traces.ts";
import { Note } from "./notes.tsx";

const indentMax = 12;

interface WaterfallProps {
  /** Parents before their children. */
  spans: readonly SpanView[];
  /** Length of the trace, in milliseconds. */
  whole: number;
}

/** Spans under each other, each a bar where it lies in time. A span opens to what is known of it. */
export function Waterfall({ spans, whole }: WaterfallProps) {
  return (
    <ol class="card waterfall" aria-label="Spans">
      {spans.map((span) => (
        <li key={span.span_id}>
          <details>
            <summary>
              <span class="span-name" style={{ paddingLeft: `${Math.min(span.depth, indentMax) * 12}px` }}>
                {span.name}
                <span class="faint">{`${span.scope}/${span.app}`}</span>
              </span>
              <span class={span.error ? "span-bar bad" : "span-bar"} aria-hidden="true">
                <i style={styleOf(span, whole)} />
              </span>
              <span class="right">
                {span.error ? <span class="bad-text">failed </span> : null}
                {spanTime(span.duration_ms)}
              </span>
            </summary>
            <Known span={span} />
          </details>
        </li>
      ))}
    </ol>
  );
}

function styleOf(span: SpanView, whole: number) {
  const { left, width } = barOf(span, whole);
  return { left: `${left}%`, width: `${width}%` };
}

function Known({ span }: { span: SpanView }) {
  const { kind, service, replica_id: replica, offset_ms: offset, message, attributes, events } = span;
  return (
    <div class="span-known">
      {message === undefined ? null : <Note tone={span.error ? "bad" : "work"}>{message}</Note>}
      <dl class="facts small">
        <dt>Began</dt>
        <dd>{`${spanTime(offset)} after the trace`}</dd>
        <dt>Kind</dt>
        <dd>{kind}</dd>
        <dt>Service</dt>
        <dd>{`${service}, replica ${replica}`}</dd>
        {Object.entries(attributes).map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd class="mono wraps">{attributeText(value)}</dd>
          </>
        ))}
        {events.map((event, index) => (
          <>
            <dt key={`event ${index}`}>{`${event.name} at ${spanTime(event.offset_ms)}`}</dt>
            <dd class="mono wraps">
              {Object.entries(event.attributes)
                .map(([name, value]) => `${name}: ${attributeText(value)}`)
                .join("\n")}
            </dd>
          </>
        ))}
      </dl>
    </div>
  );
}
