import { useState } from "preact/hooks";
import { listDeploys } from "../../observability/api/deploys.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { deploys } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import { go, query, withQuery } from "../browser/router.ts";
import { AppChoice } from "../parts/app-choice.tsx";
import { Button } from "../parts/button.tsx";
import { DeployTable } from "../parts/deploy-table.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { releaseStateText } from "../text/states.ts";

const pageRows = 50;

const filters = ["app", "by", "status", "since"] as const;
const states = ["running", "succeeded", "failed"];
const spans: readonly [string, string][] = [
  ["1h", "Last hour"],
  ["24h", "Last day"],
  ["168h", "Last week"],
  ["720h", "Last 30 days"],
];

/** What was deployed, of all apps, the newest first. */
export function Screen() {
  const asked = Object.fromEntries(filters.map((name) => [name, query.value.get(name) ?? undefined]));
  const key = JSON.stringify(asked);
  const [pages, setPages] = useState<{ key: string; cursors: readonly string[] }>({ key, cursors: [] });
  const cursors = pages.key === key ? pages.cursors : [];
  const setCursors = (list: readonly string[]) => setPages({ key, cursors: list });
  const cursor = cursors.at(-1);
  const loaded = useLoad(
    `deploys ${key} ${cursor ?? ""}`,
    (signal) => api.call(listDeploys, { query: { ...asked, limit: pageRows, history: true, cursor }, signal }),
    // What is under way is on the first page.
    cursor === undefined ? JSON.stringify(deploys.value) : "",
  );
  return (
    <Page title="Deploys" command="berth events">
      <Filters asked={asked} />
      <Shown of={loaded} label="the deploys">
        {({ deploys: rows, next }) =>
          rows.length === 0 && cursor === undefined && key !== "{}" ? (
            <Empty title="No deploy fits">
              <p>Take a filter away, or choose a longer time.</p>
              <a href="/deploys">Show every deploy</a>
            </Empty>
          ) : rows.length === 0 && cursor === undefined ? (
            <Empty title="No deploys yet">
              <p>The first apply makes one:</p>
              <code>berth up</code>
            </Empty>
          ) : (
            <>
              <DeployTable rows={rows} />
              {next === undefined && cursor === undefined ? null : (
                <div class="row">
                  {cursor === undefined ? null : (
                    <Button onClick={() => setCursors(cursors.slice(0, -1))}>Newer</Button>
                  )}
                  {next === undefined ? null : <Button onClick={() => setCursors([...cursors, next])}>Older</Button>}
                </div>
              )}
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function Filters({ asked }: { asked: Record<string, string | undefined> }) {
  return (
    <div class="row">
      <AppChoice app={asked.app ?? ""} />
      <input
        class="input narrow"
        type="search"
        aria-label="Person or token"
        placeholder="person or token"
        value={asked.by ?? ""}
        onChange={(event) => go(withQuery({ by: event.currentTarget.value }))}
      />
      <select
        class="input"
        aria-label="State"
        value={asked.status ?? ""}
        onChange={(event) => go(withQuery({ status: event.currentTarget.value }))}
      >
        <option value="">every state</option>
        {states.map((state) => (
          <option key={state} value={state}>
            {releaseStateText(state)}
          </option>
        ))}
      </select>
      <select
        class="input"
        aria-label="Time"
        value={asked.since ?? ""}
        onChange={(event) => go(withQuery({ since: event.currentTarget.value }))}
      >
        <option value="">All that are kept</option>
        {spans.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
