import { searchLogs } from "../../observability/api/log-search.ts";
import type { VisitorRequest } from "../../observability/api/traffic.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { shownLine } from "../data/tail.ts";
import { withQuery } from "../browser/router.ts";
import { bytesText, durationText } from "../text/figures.ts";
import { fieldsOf } from "../text/lines.ts";
import { clockText, exactText } from "../text/times.ts";
import { traceIn } from "../text/traces.ts";
import { Shown } from "./loaded.tsx";

/** Lines of the app around a request: some are written shortly after the answer. */
const aroundMs = 1_000;
const linesMax = 200;

/** One request of a visitor: what answered it, where its time went, and what the app wrote meanwhile. */
export function RequestView({ request }: { request: VisitorRequest }) {
  const { status, method, host, path, replica, retries, held_ms: held, ms, client, ingress } = request;
  const began = Date.parse(request.time);
  const facts: [string, string][] = [
    ["Answer", status === undefined ? "none: the client left before it" : String(status)],
    ["Began", exactText(began)],
    ["Ended", `${exactText(began + ms)}, after ${durationText(ms)}`],
    ["Held", held === 0 ? "no: a replica was ready" : `${durationText(held)}, until a replica was ready`],
    ["Retries", retries === 0 ? "none" : String(retries)],
    ["Replica", replica ?? "none answered"],
    ["Client", client],
    ["Received, sent", `${bytesText(request.bytes_in)}, ${bytesText(request.bytes_out)}`],
    ["Ingress", ingress],
    ["Id", request.request_id],
  ];
  return (
    <section class="section" aria-label="Request">
      <header>
        <h2>{`${method} ${host}${path}`}</h2>
        <a href={withQuery({ request: undefined })}>Close</a>
      </header>
      <dl class="card facts inset small">
        {facts.map(([name, text]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd class="wraps">{text}</dd>
          </>
        ))}
      </dl>
      {request.app === undefined ? null : <Lines request={request} app={request.app} />}
    </section>
  );
}

/** Lines that name the request; where there are none, all lines of its replica while it ran. */
function Lines({ request, app }: { request: VisitorRequest; app: string }) {
  const began = Date.parse(request.time);
  const span = {
    from: new Date(began - aroundMs).toISOString(),
    until: new Date(began + request.ms + aroundMs).toISOString(),
  };
  const id = JSON.stringify(request.request_id);
  const loaded = useLoad(request.request_id, async (signal) => {
    const query = { app, ...span, order: "asc", limit: linesMax };
    const own = await api.call(searchLogs, { query: { ...query, q: id }, signal });
    if (own.lines.length > 0) return { lines: own.lines, isOwn: true };
    const all = await api.call(searchLogs, { query: { ...query, replica: request.replica }, signal });
    return { lines: all.lines, isOwn: false };
  });
  const all = `/logs?app=${encodeURIComponent(app)}&from=${encodeURIComponent(span.from)}&until=${encodeURIComponent(span.until)}`;
  return (
    <>
      <header class="row between">
        <h2>{loaded.data?.isOwn === false ? "What its replica wrote meanwhile" : "Its log lines"}</h2>
        <a href={all}>Open in the log</a>
      </header>
      <Shown of={loaded} label="its log lines">
        {({ lines, isOwn }) => {
          const trace = isOwn ? lines.map(({ text }) => traceIn(fieldsOf(text))).find(Boolean) : undefined;
          if (lines.length === 0) return <p class="soft">The app wrote nothing meanwhile.</p>;
          return (
            <>
              {trace === undefined ? null : (
                <p>
                  <a href={`/traces/${trace}`}>Show its trace</a>
                </p>
              )}
              <pre class="whole-line small" tabIndex={0} aria-label="Log lines of the request" role="region">
                {lines
                  .map(shownLine)
                  .map((line) => `${clockText(line.at ?? 0)}  ${line.text}`)
                  .join("\n")}
              </pre>
            </>
          );
        }}
      </Shown>
    </>
  );
}
