import type { AppDetail } from "../../../observability/api/apps.ts";
import { appWhy, type TimelineEntry } from "../../../observability/api/incidents.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { Shown } from "../../parts/loaded.tsx";
import { Empty, Note } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { localTimes } from "../../text/times.ts";

/** Deploys, changes, deaths, alerts and lines of the log in the order in which they happened. */
export function Why({ app: { kind, scope, name, state, release, restarts } }: { app: AppDetail }) {
  const loaded = useLoad(
    `why ${kind}/${scope}/${name}`,
    (signal) => api.call(appWhy, { params: { scope, name }, query: { kind }, signal }),
    JSON.stringify([state, release?.id, release?.status, restarts]),
  );
  return (
    <Shown of={loaded} label="what happened">
      {({ entries, causes: [cause] }) =>
        entries.length === 0 ? (
          <Empty title="Nothing happened in this time">
            <p>Deploys, changes of config, deaths, alerts and bad lines of the log show here in one order.</p>
          </Empty>
        ) : (
          <>
            {cause === undefined || !entries.some(({ bad }) => bad) ? null : (
              <Note>{`${state === "ready" ? "It is ready now. Likely cause of what went wrong" : "Likely cause"}: ${cause.text}`}</Note>
            )}
            <Table
              label="What happened"
              rows={entries.toReversed()}
              keyOf={(entry) => `${entry.at} ${entry.type} ${entry.text}`}
              columns={[
                { title: "When", cell: ({ at }) => <Ago at={at} /> },
                { title: "What", cell: kindOf },
                { title: "", cell: ({ text, type }) => (type === "log" ? <code>{text}</code> : localTimes(text)) },
              ]}
            />
          </>
        )
      }
    </Shown>
  );
}

function kindOf({ type, bad }: TimelineEntry) {
  return <State tone={bad ? "bad" : "idle"} text={type.replaceAll("_", " ")} />;
}
