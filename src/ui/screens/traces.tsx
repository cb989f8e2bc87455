import { useState } from "preact/hooks";
import { listTraces, type TraceRow } from "../../observability/api/traces.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { Page } from "../frame/page.tsx";
import { go, query, withQuery } from "../browser/router.ts";
import { AppChoice } from "../parts/app-choice.tsx";
import { Button } from "../parts/button.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty, Note } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { many } from "../text/figures.ts";
import { agoText } from "../text/times.ts";
import { now } from "../browser/clock.ts";
import { spanTime } from "../text/traces.ts";

const names = ["app", "text", "min_duration", "since", "error"] as const;

const spans: readonly [string, string][] = [
  ["", "All that is kept"],
  ["15m", "Last 15 min"],
  ["1h", "Last hour"],
  ["24h", "Last day"],
];

/** What the address says of the traces that are wanted. */
function wanted(): Partial<Record<(typeof names)[number], string>> {
  return Object.fromEntries(names.flatMap((name) => (query.value.get(name) ? [[name, query.value.get(name)]] : [])));
}

/** Traces that apps sent, the newest first. */
export function Screen() {
  const asked = wanted();
  const [cursors, setCursors] = useState<{ key: string; list: string[] }>({ key: "", list: [] });
  const key = JSON.stringify(asked);
  const cursor = cursors.key === key ? cursors.list.at(-1) : undefined;
  const loaded = useLoad(`${key} ${cursor ?? ""}`, (signal) =>
    api.call(listTraces, { query: { ...asked, ...(cursor === undefined ? {} : { cursor }) }, signal }),
  );
  const older = (next: string) => setCursors({ key, list: [...(cursors.key === key ? cursors.list : []), next] });
  const command = [
    "berth traces",
    asked.app ?? "",
    asked.since === undefined ? "" : `--since ${asked.since}`,
    asked.min_duration === undefined ? "" : `--min-duration ${asked.min_duration}`,
    asked.error === undefined ? "" : "--error",
    asked.text === undefined ? "" : `--text ${JSON.stringify(asked.text)}`,
  ];
  return (
    <Page
      title="Traces"
      actions={<Button onClick={loaded.again}>Look again</Button>}
      command={command.filter(Boolean).join(" ")}
    >
      <Filters asked={asked} />
      <Shown of={loaded} label="the traces">
        {({ traces, cursor: next, searched_to: searchedTo }) => (
          <>
            {traces.length === 0 ? <Nothing isFiltered={key !== "{}"} /> : <Rows rows={traces} />}
            {searchedTo === undefined ? null : (
              <Note>{`What is older than ${agoText(Date.parse(searchedTo), now.value)} was not looked at yet.`}</Note>
            )}
            {next === undefined && cursor === undefined ? null : (
              <div class="row">
                {cursor === undefined ? null : (
                  <Button onClick={() => setCursors({ key, list: cursors.list.slice(0, -1) })}>Newer</Button>
                )}
                {next === undefined ? null : <Button onClick={() => older(next)}>Older</Button>}
              </div>
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

function Filters({ asked }: { asked: ReturnType<typeof wanted> }) {
  return (
    <div class="row">
      <AppChoice app={asked.app ?? ""} />
      <input
        class="input grow"
        type="search"
        aria-label="Name of a span"
        placeholder="a part of the name of a span"
        value={asked.text ?? ""}
        onChange={(event) => go(withQuery({ text: event.currentTarget.value }))}
      />
      <input
        class="input narrow"
        aria-label="Slower than"
        placeholder="slower than, 250ms"
        value={asked.min_duration ?? ""}
        onChange={(event) => go(withQuery({ min_duration: event.currentTarget.value }))}
      />
      <select
        class="input"
        aria-label="Time"
        value={asked.since ?? ""}
        onChange={(event) => go(withQuery({ since: event.currentTarget.value }))}
      >
        {spans.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <label class="row">
        <input
          type="checkbox"
          checked={asked.error !== undefined}
          onChange={(event) => go(withQuery({ error: event.currentTarget.checked ? "true" : undefined }))}
        />
        failed only
      </label>
    </div>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No trace fits">
        <p>Ask for less, or for a longer time.</p>
        <a href="/traces">Show every trace</a>
      </Empty>
    );
  }
  return (
    <Empty title="No app has sent a trace yet">
      <p>
        Write <code>telemetry: true</code> into the spec of an app that has an OpenTelemetry SDK: it then knows where to
        send its traces.
      </p>
    </Empty>
  );
}

function Rows({ rows }: { rows: readonly TraceRow[] }) {
  return (
    <Table
      label="Traces"
      rows={rows}
      keyOf={({ trace_id: id }) => id}
      columns={[
        {
          title: "State",
          cell: ({ errors }) => (
            <State tone={errors > 0 ? "bad" : "good"} text={errors > 0 ? many(errors, "error") : "ok"} />
          ),
        },
        {
          title: "What",
          cell: ({ trace_id: id, root }) => <a href={`/traces/${id}`}>{root === "" ? id : root}</a>,
        },
        { title: "Apps", cell: ({ apps: all }) => all.join(", ") },
        { title: "Spans", right: true, cell: ({ spans: count }) => String(count) },
        { title: "Took", right: true, cell: ({ duration_ms: ms }) => spanTime(ms) },
        { title: "When", right: true, cell: ({ at }) => <Ago at={at} /> },
      ]}
    />
  );
}
