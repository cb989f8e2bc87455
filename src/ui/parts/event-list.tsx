import type { Activity } from "../../observability/api/activity.ts";
import { appPath } from "../browser/paths.ts";
import { Empty } from "./notes.tsx";
import { Table } from "./table.tsx";
import { Ago } from "./time.tsx";

/** Rows of the event log, newest first. */
export function EventList({ events, withApp = false }: { events: readonly Activity[]; withApp?: boolean }) {
  if (events.length === 0) {
    return (
      <Empty title="No events">
        <p>Applies, deploys, deaths, changes of config and uses of tokens show here.</p>
      </Empty>
    );
  }
  return (
    <Table
      label="Events"
      rows={events}
      keyOf={({ seq }) => String(seq)}
      columns={[
        { title: "When", cell: ({ at }) => <Ago at={at} /> },
        { title: "What", cell: ({ title, action }) => <span title={action}>{title}</span> },
        ...(withApp ? [{ title: "App", cell: linkOf }] : []),
        {
          title: "By",
          cell: ({ actor, actor_name: name }) => (
            <span class="soft">{name === undefined ? actor : `${name} (${actor})`}</span>
          ),
        },
      ]}
    />
  );
}

function linkOf({ kind, scope, name }: Activity) {
  if (scope === undefined || name === undefined) return <span class="faint">–</span>;
  const text = `${scope}/${name}`;
  const leads = /^(?:deployment|statefulset|job|cronjob)$/.test(kind ?? "");
  return leads ? <a href={appPath({ kind: kind ?? "", scope, name })}>{text}</a> : text;
}

/** What came live before what was asked for, each once. */
export function joined(live: readonly Activity[], asked: readonly Activity[]): Activity[] {
  const newest = asked[0]?.seq ?? -1;
  return [...live.filter(({ seq }) => seq > newest), ...asked];
}
