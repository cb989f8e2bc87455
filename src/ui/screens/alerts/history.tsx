import { type Alert, listAlertHistory } from "../../../observability/api/alerts.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { appPath } from "../../browser/paths.ts";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { alertTone } from "../../text/alerts.ts";
import { durationText } from "../../text/figures.ts";

const shownMax = 200;

/** What fired before, newest first. */
export function History() {
  const loaded = useLoad("alert-history", (signal) =>
    api.call(listAlertHistory, { query: { limit: shownMax }, signal }),
  );
  return (
    <Shown of={loaded} label="the alerts of before">
      {({ alerts }) =>
        alerts.length === 0 ? (
          <Empty title="No alert has fired yet">
            <p>What fires is kept here with its beginning and its end.</p>
          </Empty>
        ) : (
          <Table
            label="Alerts of before"
            rows={alerts}
            keyOf={({ id }) => id}
            columns={[
              { title: "State", cell: (alert) => <State tone={alertTone(alert)} text={alert.state} /> },
              { title: "What", cell: ({ title, detail }) => <span title={detail}>{title}</span> },
              { title: "About", cell: subject },
              { title: "Fired", cell: ({ fired_at: at }) => <Ago at={at} /> },
              { title: "Lasted", right: true, cell: lasted },
            ]}
          />
        )
      }
    </Shown>
  );
}

function subject({ labels }: Alert) {
  const { scope, name } = labels;
  if (scope !== undefined && name !== undefined) return <a href={appPath({ scope, name })}>{`${scope}/${name}`}</a>;
  return Object.values(labels).join(" ") || <span class="faint">the server</span>;
}

function lasted({ since, resolved_at: until }: Alert) {
  return until === undefined ? <span class="faint">–</span> : durationText(Date.parse(until) - Date.parse(since));
}
