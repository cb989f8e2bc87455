import { type Incident, listIncidents } from "../../../observability/api/incidents.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { problems } from "../../data/model.ts";
import { appPath } from "../../browser/paths.ts";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { severityTone } from "../../text/alerts.ts";
import { durationText } from "../../text/figures.ts";

/** What went wrong, from its beginning to its end, with what it cost and what may have begun it. */
export function Incidents() {
  const version = JSON.stringify(problems.value.map(({ id }) => id));
  const loaded = useLoad("incidents", (signal) => api.call(listIncidents, { signal }), version);
  return (
    <Shown of={loaded} label="the incidents">
      {({ incidents }) =>
        incidents.length === 0 ? (
          <Empty title="No incidents">
            <p>Alerts and down times of one app that belong together show here as one incident.</p>
          </Empty>
        ) : (
          <Table
            label="Incidents"
            rows={incidents}
            keyOf={({ id }) => id}
            columns={[
              { title: "State", cell: stateOf },
              { title: "What", cell: ({ title }) => title },
              { title: "About", cell: subject },
              { title: "Likely cause", cell: ({ causes: [cause] }) => cause?.text ?? <span class="faint">–</span> },
              { title: "Began", cell: ({ from }) => <Ago at={from} /> },
              { title: "Took", right: true, cell: ({ seconds }) => durationText(seconds * 1000) },
              { title: "Down", right: true, cell: ({ down_seconds: down }) => durationText(down * 1000) },
              { title: "Failed requests", right: true, cell: ({ failed_requests: failed }) => failed },
            ]}
          />
        )
      }
    </Shown>
  );
}

function stateOf({ state, severity }: Incident) {
  return state === "over" ? <State tone="good" text="over" /> : <State tone={severityTone(severity)} text="open" />;
}

function subject({ scope, name }: Incident) {
  if (scope === undefined || name === undefined) return <span class="faint">the server</span>;
  return <a href={appPath({ scope, name }, "why")}>{`${scope}/${name}`}</a>;
}
