import { type AuditRow, listAudit } from "../../observability/api/activity.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { Page } from "../frame/page.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Ago } from "../parts/time.tsx";
import { auditText } from "../text/agents.ts";

/** What tokens changed, and which secrets they saw. */
export function Screen() {
  const loaded = useLoad("audit", (signal) => api.call(listAudit, { query: { limit: 500 }, signal }));
  return (
    <Page title="Audit" command="berth pat list --all">
      <Tabs
        label="What is recorded"
        current="/audit"
        tabs={[
          { title: "Events", href: "/events" },
          { title: "Audit", href: "/audit" },
        ]}
      />
      <Shown of={loaded} label="the audit" scope="admin">
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="No token has changed anything yet">
              <p>Restarts, deploys, revealed secrets and refused requests show here, each with its token.</p>
            </Empty>
          ) : (
            <Rows rows={rows} />
          )
        }
      </Shown>
    </Page>
  );
}

function Rows({ rows }: { rows: readonly AuditRow[] }) {
  return (
    <Table
      label="Audit"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: "When", cell: ({ at }) => <Ago at={at} /> },
        {
          title: "What",
          cell: (row) => (
            <span title={`${row.actor}: ${row.action} ${JSON.stringify(row.params ?? {})}`}>
              <strong>{row.actor_name ?? row.actor}</strong>
              {` ${auditText(row)}`}
            </span>
          ),
        },
        { title: "From", cell: ({ ip }) => <code>{ip ?? "–"}</code> },
        { title: "Outcome", cell: ({ outcome }) => <State tone={outcome === "ok" ? "good" : "bad"} text={outcome} /> },
      ]}
    />
  );
}
