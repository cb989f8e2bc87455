import { getTrace, type TraceView } from "../../observability/api/traces.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../browser/paths.ts";
import type { ScreenProps } from "../frame/screen.ts";
import { Shown } from "../parts/loaded.tsx";
import { Note } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Ago } from "../parts/time.tsx";
import { Waterfall } from "../parts/waterfall.tsx";
import { many } from "../text/figures.ts";
import { spanTime } from "../text/traces.ts";

/** One trace: its spans under each other, each where it lies in time. */
export function Screen({ params }: ScreenProps) {
  const { id = "" } = params;
  const loaded = useLoad(`trace ${id}`, (signal) => api.call(getTrace, { params: { id }, signal }));
  const trace = loaded.data;
  return (
    <Page
      title={trace === undefined || trace.root === "" ? "Trace" : trace.root}
      command={`berth traces show ${id}`}
      beside={
        trace === undefined ? undefined : (
          <State
            tone={trace.errors > 0 ? "bad" : "good"}
            text={trace.errors > 0 ? many(trace.errors, "error") : "ok"}
          />
        )
      }
    >
      <Shown of={loaded} label="the trace">
        {(found) => (
          <>
            <Facts trace={found} />
            <Waterfall spans={found.tree} whole={found.duration_ms} />
            {found.more > 0 ? <Note>{`${many(found.more, "span")} more are not shown.`}</Note> : null}
          </>
        )}
      </Shown>
    </Page>
  );
}

function Facts({ trace }: { trace: TraceView }) {
  const { trace_id: id, at, duration_ms: ms, apps, spans } = trace;
  return (
    <dl class="facts small">
      <dt>Trace</dt>
      <dd class="mono wraps">{id}</dd>
      <dt>Began</dt>
      <dd>
        <Ago at={at} />
      </dd>
      <dt>Took</dt>
      <dd>{`${spanTime(ms)} in ${many(spans, "span")}`}</dd>
      <dt>Apps</dt>
      <dd>
        {apps.map((app, index) => {
          const [scope = "", name = ""] = app.split("/", 2);
          return (
            <>
              {index === 0 ? "" : ", "}
              <a key={app} href={appPath({ scope, name })}>
                {app}
              </a>
            </>
          );
        })}
      </dd>
      <dt>Logs</dt>
      <dd>
        <a href={`/logs?from=168h&q=${encodeURIComponent(`trace_id=${id}`)}`}>Lines of this trace</a>
      </dd>
    </dl>
  );
}
