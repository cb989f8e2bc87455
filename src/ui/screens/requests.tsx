import { listRequests, type VisitorRequest } from "../../observability/api/traffic.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { Page } from "../frame/page.tsx";
import { go, query, withQuery } from "../browser/router.ts";
import { Button } from "../parts/button.tsx";
import { RequestView } from "../parts/request-view.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Ago } from "../parts/time.tsx";
import { bytesText, durationText } from "../text/figures.ts";
import { AppLink, domainTabs } from "./domains.tsx";

const filters = [
  ["app", "scope/name"],
  ["host", "host"],
  ["path", "/path"],
  ["status", "404 or 5xx"],
  ["slower_than", "slower than, 500ms"],
] as const;

/** The last requests of visitors, as far as the server keeps them. */
export function Screen() {
  const asked = Object.fromEntries(filters.map(([name]) => [name, query.value.get(name) ?? undefined]));
  const loaded = useLoad(JSON.stringify(asked), (signal) =>
    api.call(listRequests, { query: { ...asked, limit: 300 }, signal }),
  );
  return (
    <Page title="Requests" actions={<Button onClick={loaded.again}>Look again</Button>} command="berth ingress logs">
      <Tabs label="Of the ingress" current="/requests" tabs={domainTabs} />
      <div class="row">
        {filters.map(([name, hint]) => (
          <input
            key={name}
            class="input narrow"
            aria-label={hint}
            placeholder={hint}
            value={asked[name] ?? ""}
            onChange={(event) => go(withQuery({ [name]: event.currentTarget.value }))}
          />
        ))}
      </div>
      <Shown of={loaded} label="the requests">
        {({ requests }) =>
          requests.length === 0 ? (
            <Empty title="No request fits">
              <p>
                {"The server keeps the last requests of each ingress whose manifest says "}
                <code>access_log: all</code>
                {" or "}
                <code>access_log: sampled</code>
                {". Without it none is kept, and only the counts on the page Domains rise."}
              </p>
            </Empty>
          ) : (
            <>
              {requests
                .filter(({ request_id: id }) => id === query.value.get("request"))
                .map((request) => (
                  <RequestView key={request.seq} request={request} />
                ))}
              <Rows rows={requests} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function Rows({ rows }: { rows: readonly VisitorRequest[] }) {
  return (
    <Table
      label="Requests"
      rows={rows}
      keyOf={({ seq }) => String(seq)}
      columns={[
        {
          title: "Status",
          cell: ({ status }) => <State tone={toneOf(status)} text={status === undefined ? "left" : String(status)} />,
        },
        { title: "Method", cell: ({ method }) => <code>{method}</code> },
        {
          title: "Address",
          cell: ({ host, path, request_id: id }) => (
            <a href={withQuery({ request: id })} title={`request ${id}`}>{`${host}${path}`}</a>
          ),
        },
        { title: "App", cell: ({ app }) => (app === undefined ? "–" : <AppLink target={app} />) },
        { title: "Time", right: true, cell: ({ ms }) => durationText(ms) },
        { title: "Sent", right: true, cell: ({ bytes_out: bytes }) => bytesText(bytes) },
        { title: "From", cell: ({ client }) => <code>{client}</code> },
        { title: "When", right: true, cell: ({ time }) => <Ago at={time} /> },
      ]}
    />
  );
}

function toneOf(status: number | undefined) {
  if (status === undefined) return "idle";
  if (status >= 500) return "bad";
  return status >= 400 ? "warn" : "good";
}
