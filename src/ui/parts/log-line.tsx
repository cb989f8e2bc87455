import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { logContext } from "../../observability/api/log-search.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { shownLine } from "../data/tail.ts";
import { clockText, exactText } from "../text/times.ts";
import { fieldsOf, type ShownLine } from "../text/lines.ts";
import { traceIn } from "../text/traces.ts";
import { valueText } from "../text/changes.ts";
import { Button } from "./button.tsx";
import { Shown } from "./loaded.tsx";

const open = signal<ShownLine | undefined>(undefined);

/** Shows a line whole, with its fields and the lines around it. */
export function askLine(line: ShownLine): void {
  if (!line.mark) open.value = line;
}

export function LineDialog() {
  const line = open.value;
  return line === undefined ? null : <Asked key={line.id} line={line} />;
}

function Asked({ line }: { line: ShownLine }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  const { source } = line;
  const fields = fieldsOf(line.text);
  const trace = traceIn(fields);
  const close = () => {
    open.value = undefined;
  };
  return (
    <dialog ref={box} class="wide" aria-label="Line" onClose={close}>
      <div class="inside">
        <h2>{line.at === undefined ? "Line" : exactText(line.at)}</h2>
        <pre class="whole-line" tabIndex={0}>
          {line.text}
        </pre>
        <dl class="facts small">
          {fields.map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd class="mono">{valueText(value)}</dd>
            </>
          ))}
          {trace === undefined ? null : (
            <>
              <dt>Trace</dt>
              <dd>
                <a href={`/traces/${trace}`} onClick={close}>
                  Show the trace
                </a>
              </dd>
            </>
          )}
          {source === undefined ? null : (
            <>
              <dt>Pod</dt>
              <dd class="mono">{source.pod}</dd>
              <dt>Release</dt>
              <dd class="mono">{source.release_id ?? "–"}</dd>
              <dt>Stream</dt>
              <dd>{source.stream}</dd>
            </>
          )}
        </dl>
        {source === undefined ? null : <Around line={line} app={`${source.scope}/${source.name}`} at={source.at} />}
        <div class="end">
          <Button onClick={() => box.current?.close()}>Close</Button>
        </div>
      </div>
    </dialog>
  );
}

/** Ten lines before and after. */
function Around({ line, app, at }: { line: ShownLine; app: string; at: string }) {
  const loaded = useLoad(`${line.id}`, (signal) =>
    api.call(logContext, { query: { app, replica: line.replica, at }, signal }),
  );
  return (
    <Shown of={loaded} label="the lines around it">
      {({ before, after }) => (
        <pre class="whole-line small" tabIndex={0}>
          {[...before, ...after]
            .map(shownLine)
            .map((one) => `${clockText(one.at ?? 0)}  ${one.text}`)
            .join("\n")}
        </pre>
      )}
    </Shown>
  );
}
