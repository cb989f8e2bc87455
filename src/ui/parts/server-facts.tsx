import type { ComponentChildren } from "preact";
import { hostServer, type ServerReport } from "../../observability/api/disk.ts";
import { listMetrics } from "../../observability/api/metrics.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { bytesText, countText, durationText, many } from "../text/figures.ts";
import { Shown } from "./loaded.tsx";
import { State } from "./state.tsx";
import { Ago } from "./time.tsx";

/** The server itself, Docker, the proxy, and what the janitor did last. */
export function ServerFacts() {
  const server = useLoad("server", (signal) => api.call(hostServer, { signal }));
  return (
    <section class="section">
      <h2>The server</h2>
      <Shown of={server} label="the server" scope="host:read">
        {(report) => (
          <div class="card inset">
            <dl class="facts">
              <Engine report={report} />
              <ProxyFact report={report} />
              <Fact name="Version">{`${report.version}, up ${durationText(report.uptime_seconds * 1_000)}`}</Fact>
              <Fact name="Queues">
                {`${many(report.reconciler.queued, "resource")} to look at, ${report.reconciler.failing} failing; ${many(report.streams, "open stream")}`}
              </Fact>
              <Janitor />
            </dl>
          </div>
        )}
      </Shown>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Engine({ report: { engine } }: { report: ServerReport }) {
  return (
    <Fact name="Docker">
      {engine.up ? (
        <State tone="good" text={`version ${engine.version ?? "unknown"}, API ${engine.api_version ?? "unknown"}`} />
      ) : (
        <State tone="bad" text={engine.error ?? "does not answer"} />
      )}
      {" since "}
      <Ago at={engine.since} />
    </Fact>
  );
}

function ProxyFact({ report: { proxy } }: { report: ServerReport }) {
  if (proxy === undefined) return null;
  const { state, version, problem } = proxy;
  const isWell = state === "running" && problem === undefined;
  const text = `${state}${version === undefined ? "" : `, version ${version}`}`;
  return (
    <Fact name="HAProxy">
      <State tone={isWell ? "good" : state === "off" || state === "waiting" ? "idle" : "warn"} text={text} />
      {problem === undefined ? null : ` ${problem}`}
    </Fact>
  );
}

function Janitor() {
  const { data } = useLoad("catalogue", (signal) => api.call(listMetrics, { signal }));
  if (data === undefined) return null;
  const { store } = data;
  return (
    <Fact name="Janitor of metrics">
      <State
        tone={store.disk === "ok" ? "good" : "warn"}
        text={store.disk === "ok" ? "enough room" : `room is ${store.disk}`}
      />
      {`, ${bytesText(store.bytes)} of at most ${bytesText(store.bytes_max)}, ${countText(store.series)} series; `}
      {`removed since the start: ${many(store.expired, "chunk")} for their age, ${store.shed} for want of room; last round `}
      <Ago at={store.tended_at} />
    </Fact>
  );
}
